#include "top/screen.h"

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <ncurses.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace msleaks::tools {
namespace {

constexpr char kHelp[] = "q quit  space pause  g growth from here  s sort (b c r k)  p process  h heap";

void drawLine(int line, const std::string &text, int columns, attr_t attributes = A_NORMAL) {
  move(line, 0);
  clrtoeol();
  attr_on(attributes, nullptr);
  addstr(text.c_str());
  // Highlights the whole width of the line.
  for (size_t at = text.size(); attributes == A_REVERSE && at < static_cast<size_t>(columns); ++at)
    addch(' ');
  attr_off(attributes, nullptr);
}

analysis::FrameSort after(analysis::FrameSort sort) {
  using enum analysis::FrameSort;
  return sort == Bytes ? Growth : sort == Growth ? Count : sort == Count ? Peak : Bytes;
}

} // namespace

std::unique_ptr<Screen> Screen::open() {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
    return nullptr;
  const char *kind = std::getenv("TERM");
  if (!kind || std::string_view(kind) == "dumb") // on a dumb terminal ncurses would draw with blanks
    return nullptr;
  std::setlocale(LC_CTYPE, ""); // names may contain non-ASCII characters
  screen *terminal = newterm(nullptr, stdout, stdin);
  if (!terminal)
    return nullptr;
  set_term(terminal);
  cbreak();
  noecho();
  curs_set(0);
  keypad(stdscr, TRUE);
  return std::unique_ptr<Screen>(new Screen(terminal));
}

Screen::~Screen() {
  endwin();
  delscreen(terminal_);
}

void Screen::draw(analysis::Frame frame) {
  int lines = 0, columns = 0;
  getmaxyx(stdscr, lines, columns);
  style_.columns = static_cast<size_t>(std::max(columns, 1));
  sortRows(frame, style_.sort);
  int at = 0;
  for (const std::string &line : headOf(frame, style_)) {
    const bool stands_out = at == 0 && frame.state != analysis::WatchState::Running;
    if (at < lines)
      drawLine(at, line, columns, stands_out ? A_BOLD : A_NORMAL);
    ++at;
  }
  if (at < lines)
    drawLine(at++, headingsOf(style_), columns, A_REVERSE);
  drawRows(frame, at);
  const std::string help = (paused_ ? "PAUSED  " : "") + std::string(kHelp);
  if (lines > at + 1)
    drawLine(lines - 1, help.substr(0, style_.columns - 1), columns); // text in the last cell may scroll the terminal
  refresh();
}

void Screen::drawRows(const analysis::Frame &frame, int first_line) {
  const int lines = getmaxy(stdscr), columns = getmaxx(stdscr);
  rows_ = frame.rows.size();
  room_ = static_cast<size_t>(std::max(1, lines - 1 - first_line));
  first_row_ = std::min(first_row_, rows_ - std::min(rows_, room_));
  for (int line = first_line; line < lines - 1; ++line) {
    const size_t row = first_row_ + static_cast<size_t>(line - first_line);
    drawLine(line, row < rows_ ? lineOf(frame, frame.rows[row], style_) : std::string(), columns);
  }
}

Wish Screen::wait(int timeout_ms) {
  timeout(timeout_ms);
  const int key = getch();
  return key == ERR ? Wish::None : onKey(key);
}

Wish Screen::sortBy(analysis::FrameSort sort) {
  style_.sort = sort;
  first_row_ = 0;
  return Wish::Redraw;
}

Wish Screen::scrollBy(long rows) {
  const long wanted = static_cast<long>(first_row_) + rows;
  first_row_ = std::min(static_cast<size_t>(std::max(0L, wanted)), rows_); // drawRows() may lower this number
  return Wish::Redraw;
}

Wish Screen::onKey(int key) {
  const long page = static_cast<long>(room_);
  switch (key) {
  case 'q':
    return Wish::Quit;
  case ' ':
    paused_ = !paused_;
    return Wish::Redraw;
  case 'g':
    return Wish::SetMoment;
  case 's':
    return sortBy(after(style_.sort));
  case 'b':
    return sortBy(analysis::FrameSort::Bytes);
  case 'r':
    return sortBy(analysis::FrameSort::Growth);
  case 'c':
    return sortBy(analysis::FrameSort::Count);
  case 'k':
    return sortBy(analysis::FrameSort::Peak);
  case 'p':
    style_.split.by_process = !style_.split.by_process;
    return Wish::Redraw;
  case 'h':
    style_.split.by_heap = !style_.split.by_heap;
    return Wish::Redraw;
  case KEY_UP:
    return scrollBy(-1);
  case KEY_DOWN:
    return scrollBy(1);
  case KEY_PPAGE:
    return scrollBy(-page);
  case KEY_NPAGE:
    return scrollBy(page);
  case KEY_HOME:
    return scrollBy(-static_cast<long>(rows_));
  case KEY_END:
    return scrollBy(static_cast<long>(rows_));
  case KEY_RESIZE:
    clear();
    return Wish::Redraw;
  default:
    return Wish::None;
  }
}

} // namespace msleaks::tools
