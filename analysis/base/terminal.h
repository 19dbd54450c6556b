// How wide a line for people may be.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace msleaks::analysis::inline base {

// COLUMNS, if it is a number; else the width of the terminal that the descriptor is. Where there is none, nobody's
// window cuts lines: SIZE_MAX.
size_t outputColumns(int descriptor);

// One line on the terminal for whoever waits, redrawn a few times per second. It leaves nothing behind.
class ProgressLine {
public:
  // Never visible unless it is wanted, stderr is a terminal that can erase a line, and we are in its foreground.
  explicit ProgressLine(bool wanted = true);
  ~ProgressLine() { erase(); }
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  // Whether it is time for a new text: not within the first second, and then five times per second.
  bool due();
  // Cut to the terminal's width. The cursor is left in the first column, so what a program writes replaces the line.
  void draw(const std::string &text);
  // The same, when it is time for it.
  void drawIfDue(const std::string &text);
  void erase();

private:
  using Clock = std::chrono::steady_clock;
  bool visible() const;

  bool terminal_, drawn_ = false;
  Clock::time_point next_;
};

} // namespace msleaks::analysis::inline base
