#include "analysis/watch/frame_text.h"

#include "analysis/base/text.h"
#include "analysis/text/site_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis::inline watch {
namespace {

std::string signedBytes(int64_t bytes) {
  if (bytes == 0)
    return "0 B";
  return (bytes < 0 ? '-' : '+') +
         bytesText(bytes < 0 ? 0 - static_cast<uint64_t>(bytes) : static_cast<uint64_t>(bytes));
}

// Appends the parts in lines that are as full as possible.
void addFilled(std::vector<std::string> &lines, const std::vector<std::string> &parts, size_t columns) {
  std::string line;
  for (const std::string &part : parts) {
    if (!line.empty() && columns != SIZE_MAX && widthOf(line) + 2 + widthOf(part) > columns) {
      lines.push_back(cutEnd(line, columns));
      line.clear();
    }
    line += (line.empty() ? "" : "  ") + part;
  }
  lines.push_back(cutEnd(line, columns));
}

std::string commandText(const Frame &frame) {
  std::string text;
  for (const std::string &word : frame.command)
    text += (text.empty() ? "" : " ") + word;
  return text.empty() ? "(no command)" : printable(text);
}

const char *stateText(const Frame &frame) {
  if (frame.behind)
    return "catching up";
  switch (frame.state) {
  case WatchState::Ended:
    return "ENDED";
  case WatchState::Killed:
    return "NOT COLLECTED ANY MORE";
  case WatchState::Running:
    break;
  }
  return "running";
}

std::string processesText(const Frame &frame) {
  const auto running = std::count_if(frame.processes.begin(), frame.processes.end(),
                                     [](const FrameProcess &process) { return process.running; });
  std::string text = fmt::format("{} process{}", running, running == 1 ? "" : "es");
  if (frame.ended_processes != 0)
    text += fmt::format(" (+{} ended)", frame.ended_processes);
  return text;
}

struct FrameColumn {
  FrameSort sort;
  const char *name;
  size_t width;
  size_t least_columns; // narrower terminals show this column only if rows are sorted by it
};

constexpr FrameColumn kColumns[] = {{FrameSort::Bytes, "bytes", 9, 32},
                                    {FrameSort::Growth, "growth", 10, 44},
                                    {FrameSort::Count, "count", 8, 54},
                                    {FrameSort::Peak, "peak", 5, 62}};
constexpr size_t kColumnsForSplit = 40; // narrower terminals do not show the process and the heap

std::string cellOf(FrameSort column, const Frame &frame, const FrameRow &row) {
  switch (column) {
  case FrameSort::Bytes:
    return bytesText(row.now.bytes);
  case FrameSort::Growth:
    return signedBytes(row.grownBytes());
  case FrameSort::Count:
    return shortCountText(row.now.count);
  case FrameSort::Peak:
    break;
  }
  return percentText(row.at_peak.bytes, frame.peak_bytes);
}

template <class Cell> std::string cellsOf(const FrameStyle &style, Cell cell) {
  std::string text;
  for (const FrameColumn &column : kColumns)
    if (column.sort == style.sort || style.columns >= column.least_columns)
      text += fmt::format("{:>{}} ", cell(column), column.width);
  return text;
}

std::string processText(const Frame &frame, uint32_t number) {
  for (const FrameProcess &process : frame.processes)
    if (process.process == number)
      return fmt::format("{} {}", process.pid, printable(process.command));
  return "(ended)";
}

constexpr size_t kRoomForFolder = 24;

std::string placeText(const FrameRow &row, size_t room) {
  if (!row.site)
    return cutEnd("(not named yet)", room);
  if (room < kRoomForFolder) { // if there is little room, the file and its line are most important
    SiteText narrow = *row.site;
    narrow.file = baseName(narrow.file);
    narrow.column = 0;
    return cutEnd(placeOf(narrow, room), room);
  }
  const std::string text = placeOf(*row.site, room);
  const size_t left = room == SIZE_MAX ? room : room - std::min(room, widthOf(text) + 1);
  if (left < 8)
    return cutEnd(text, room);
  const std::string name = nameOf(*row.site, left);
  return cutEnd(name.empty() ? text : text + " " + name, room);
}

} // namespace

void sortRows(Frame &frame, FrameSort sort) {
  const auto key = [sort](const FrameRow &row) -> int64_t {
    switch (sort) {
    case FrameSort::Growth:
      return row.grownBytes();
    case FrameSort::Count:
      return static_cast<int64_t>(row.now.count);
    case FrameSort::Peak:
      return static_cast<int64_t>(row.at_peak.bytes);
    case FrameSort::Bytes:
      break;
    }
    return static_cast<int64_t>(row.now.bytes);
  };
  std::stable_sort(frame.rows.begin(), frame.rows.end(),
                   [key](const FrameRow &left, const FrameRow &right) { return key(left) > key(right); });
}

std::vector<std::string> headOf(const Frame &frame, const FrameStyle &style) {
  std::vector<std::string> lines;
  lines.push_back(cutEnd(fmt::format("{}: {}", stateText(frame), commandText(frame)), style.columns));
  addFilled(lines,
            {durationText(frame.time_ns), processesText(frame), shortCountText(frame.events) + " events",
             fmt::format("{}/s", shortCountText(static_cast<uint64_t>(frame.events_per_s)))},
            style.columns);
  std::vector<std::string> parts{
      "alive " + bytesText(frame.now.bytes), shortCountText(frame.now.count) + " blocks",
      fmt::format("peak {} at {}", bytesText(frame.peak_bytes), durationText(frame.peak_time_ns))};
  if (frame.step)
    parts.push_back(fmt::format("step {}", frame.step->number));
  if (frame.moment_ns != 0)
    parts.push_back("growth since " + durationText(frame.moment_ns));
  if (!frame.damage.empty())
    parts.push_back(fmt::format("{} damaged", frame.damage.size()));
  addFilled(lines, parts, style.columns);
  return lines;
}

std::string headingsOf(const FrameStyle &style) {
  std::string text = cellsOf(style, [&](const FrameColumn &column) {
    return column.sort == style.sort ? fmt::format("{}*", column.name) : std::string(column.name);
  });
  if (style.split.by_process && style.columns >= kColumnsForSplit)
    text += fmt::format("{:<16} ", "process");
  if (style.split.by_heap && style.columns >= kColumnsForSplit)
    text += fmt::format("{:<7} ", "heap");
  return cutEnd(text + "place", style.columns);
}

std::string lineOf(const Frame &frame, const FrameRow &row, const FrameStyle &style) {
  std::string text = cellsOf(style, [&](const FrameColumn &column) { return cellOf(column.sort, frame, row); });
  if (style.split.by_process && style.columns >= kColumnsForSplit)
    text += fmt::format("{:<16} ", cutEnd(processText(frame, row.process), 16));
  if (style.split.by_heap && style.columns >= kColumnsForSplit)
    text += fmt::format("{:<7} ", abi::nameOf(row.heap));
  const size_t room = style.columns == SIZE_MAX ? SIZE_MAX : style.columns - std::min(style.columns, widthOf(text));
  return cutEnd(text + placeText(row, room), style.columns);
}

} // namespace msleaks::analysis::inline watch
