// Draws the frames of `msleaks top` on the terminal and reads keys. ncurses controls the terminal while the Screen
// exists.
#pragma once

#include "analysis/watch/frame_text.h"

#include <cstddef>
#include <memory>

struct screen; // a type of ncurses

namespace msleaks::tools {

// The action that a key requests from the caller. The screen itself handles the keys that change the table.
enum class Wish : uint8_t {
  None,
  Redraw, // the table's settings or the window's size have changed
  SetMoment,
  Quit,
};

class Screen {
public:
  // Opens the screen. Returns null if there is no terminal, or if ncurses does not support the terminal.
  static std::unique_ptr<Screen> open();
  ~Screen();
  Screen(const Screen &) = delete;
  Screen &operator=(const Screen &) = delete;

  void draw(analysis::Frame);
  // Waits for a key, at most for this time, and returns the requested action.
  Wish wait(int timeout_ms);

  analysis::Split split() const { return style_.split; }
  bool isPaused() const { return paused_; }

private:
  explicit Screen(screen *terminal) : terminal_(terminal) {}
  Wish onKey(int key);
  Wish sortBy(analysis::FrameSort);
  Wish scrollBy(long rows);
  void drawRows(const analysis::Frame &, int first_line);

  screen *terminal_;
  analysis::FrameStyle style_;
  size_t first_row_ = 0, rows_ = 0, room_ = 1; // first shown row, number of rows, and rows that fit
  bool paused_ = false;
};

} // namespace msleaks::tools
