#include "analysis/places/line_code.h"

#include "analysis/places/debug_info.h"

#include <algorithm>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string>

namespace msleaks::analysis::inline places {
namespace {

struct Line {
  std::string_view file;
  uint32_t number;
};

// clang writes paths relative to the folder in which it ran.
bool isFile(const char *path, std::string_view folder, std::string_view wanted) {
  if (path == nullptr)
    return false;
  std::string have(path);
  if (!have.starts_with('/'))
    have = std::string(folder) + "/" + have;
  return have.ends_with(wanted) &&
         (have.size() == wanted.size() || wanted.starts_with('/') || have[have.size() - wanted.size() - 1] == '/');
}

std::string folderOf(Dwarf_Die &unit) {
  Dwarf_Attribute attribute;
  const char *folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
  return folder != nullptr ? folder : "";
}

// Returns the numbers that the file has in the unit's line table.
std::vector<size_t> filesOf(Dwarf_Die &unit, std::string_view wanted) {
  const std::string folder = folderOf(unit);
  Dwarf_Files *files = nullptr;
  size_t count = 0;
  std::vector<size_t> numbers;
  if (dwarf_getsrcfiles(&unit, &files, &count) == 0)
    for (size_t i = 0; i < count; ++i)
      if (isFile(dwarf_filesrc(files, i, nullptr, nullptr), folder, wanted))
        numbers.push_back(i);
  return numbers;
}

void addLines(Dwarf_Die &unit, const Line &wanted, std::vector<CodeRange> &ranges) {
  Dwarf_Lines *lines = nullptr;
  size_t count = 0;
  if (dwarf_getsrclines(&unit, &lines, &count) != 0)
    return;
  const std::string folder = folderOf(unit);
  for (size_t i = 0; i + 1 < count; ++i) {
    Dwarf_Line *line = dwarf_onesrcline(lines, i);
    int number = 0;
    bool ends = false;
    Dwarf_Addr begin = 0, end = 0;
    dwarf_lineno(line, &number);
    dwarf_lineendsequence(line, &ends);
    if (ends || static_cast<uint32_t>(number) != wanted.number ||
        !isFile(dwarf_linesrc(line, nullptr, nullptr), folder, wanted.file))
      continue;
    dwarf_lineaddr(line, &begin);
    dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &end);
    if (begin < end)
      ranges.push_back({begin, end});
  }
}

Dwarf_Word attributeOf(Dwarf_Die &die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  dwarf_formudata(dwarf_attr(&die, name, &attribute), &value);
  return value;
}

void addInlined(Dwarf_Die &unit, const std::vector<size_t> &files, uint32_t line, std::vector<CodeRange> &ranges) {
  std::vector<Dwarf_Die> holders{unit};
  while (!holders.empty()) {
    Dwarf_Die holder = holders.back(), die;
    holders.pop_back();
    for (int end = dwarf_child(&holder, &die); end == 0; end = dwarf_siblingof(&die, &die)) {
      if (dwarf_haschildren(&die) > 0)
        holders.push_back(die);
      if (dwarf_tag(&die) != DW_TAG_inlined_subroutine || attributeOf(die, DW_AT_call_line) != line ||
          std::find(files.begin(), files.end(), attributeOf(die, DW_AT_call_file)) == files.end())
        continue;
      Dwarf_Addr base = 0, from = 0, to = 0;
      for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &from, &to)) > 0;)
        if (from < to)
          ranges.push_back({from, to});
    }
  }
}

std::vector<CodeRange> joined(std::vector<CodeRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const CodeRange &left, const CodeRange &right) { return left.begin < right.begin; });
  std::vector<CodeRange> whole;
  for (const CodeRange &range : ranges) {
    if (!whole.empty() && range.begin <= whole.back().end)
      whole.back().end = std::max(whole.back().end, range.end);
    else
      whole.push_back(range);
  }
  return whole;
}

} // namespace

// In the line table, inlined code has lines of its own. So also looks for functions that were inlined in this line.
std::vector<CodeRange> DebugInfo::codeOfLine(std::string_view file, uint32_t line) const {
  std::vector<CodeRange> ranges;
  forEachUnit([&](Dwarf_Die &unit) {
    const std::vector<size_t> files = filesOf(unit, file);
    if (files.empty())
      return;
    addLines(unit, {file, line}, ranges);
    addInlined(unit, files, line, ranges);
  });
  return joined(std::move(ranges));
}

std::vector<CodeRange> codeOfLine(const std::filesystem::path &image, std::string_view file, uint32_t line) {
  return DebugInfo::open(image, "/usr/lib/debug").codeOfLine(file, line);
}

} // namespace msleaks::analysis::inline places
