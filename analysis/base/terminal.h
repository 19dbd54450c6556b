// The width of lines for people, and a line that shows progress.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace msleaks::analysis::inline base {

// Returns COLUMNS if it is a positive number, or else the width of the descriptor's terminal. Returns SIZE_MAX if the
// descriptor is no terminal, because then no window cuts the lines.
size_t outputColumns(int descriptor);

// A line on the terminal for a person who waits. It is redrawn a few times per second, and erased at the end.
class ProgressLine {
public:
  // Shows the line only if it is wanted, stderr is a terminal that can erase a line, and we run in its foreground.
  explicit ProgressLine(bool wanted = true);
  ~ProgressLine() { erase(); }
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  // Whether to draw a new text now: first after one second, then five times per second.
  bool due();
  // Cuts the text to the terminal's width. The cursor returns to the first column, so later output replaces the line.
  void draw(const std::string &text);
  // Calls draw() if due() says so.
  void drawIfDue(const std::string &text);
  void erase();

private:
  using Clock = std::chrono::steady_clock;
  bool visible() const;

  bool terminal_, drawn_ = false;
  Clock::time_point next_;
};

} // namespace msleaks::analysis::inline base
