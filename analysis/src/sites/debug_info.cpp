#include "debug_info.h"

#include <algorithm>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

namespace msleaks::analysis {
namespace {

struct DwflEnd {
  void operator()(Dwfl *session) const { dwfl_end(session); }
};

// A compilation unit, and a range of its code.
struct Range {
  uint64_t begin, end;
  Dwarf_Die unit;
};

std::string textOf(const char *text) { return text ? text : ""; }

std::string absolute(const std::string &file, Dwarf_Die &unit) {
  if (file.empty() || file.front() == '/')
    return file;
  Dwarf_Attribute attribute;
  const std::string folder = textOf(dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute)));
  return folder.empty() ? file : folder + "/" + file;
}

std::string linkageNameOf(Dwarf_Die &function) {
  Dwarf_Attribute attribute;
  if (dwarf_attr_integrate(&function, DW_AT_linkage_name, &attribute))
    return textOf(dwarf_formstring(&attribute));
  return textOf(dwarf_diename(&function));
}

uint32_t numberOf(Dwarf_Die &die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  return dwarf_formudata(dwarf_attr(&die, name, &attribute), &value) == 0 ? static_cast<uint32_t>(value) : 0;
}

bool isFunction(Dwarf_Die &die) {
  const int tag = dwarf_tag(&die);
  return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram || tag == DW_TAG_entry_point;
}

// Functions that hold the address, innermost first; the last one is no inlined one.
std::vector<Dwarf_Die> functionsAt(Dwarf_Die &unit, uint64_t address) {
  Dwarf_Die *scopes = nullptr;
  int count = dwarf_getscopes(&unit, address, &scopes);
  std::unique_ptr<Dwarf_Die, decltype(&free)> kept(scopes, &free);
  if (count <= 0)
    return {};
  // Of an inlined function these scopes are the ones of its definition: asked again, from where it stands.
  Dwarf_Die innermost = scopes[0];
  count = dwarf_getscopes_die(&innermost, &scopes);
  kept.reset(count > 0 ? scopes : nullptr);
  std::vector<Dwarf_Die> functions;
  for (int i = 0; i < count; ++i)
    if (isFunction(scopes[i]))
      functions.push_back(scopes[i]);
  return functions;
}

} // namespace

struct DebugInfo::State {
  std::string debug_path; // libdwfl keeps a pointer to the pointer
  char *debug_path_pointer = nullptr;
  Dwfl_Callbacks callbacks{};
  std::unique_ptr<Dwfl, DwflEnd> session;
  Dwfl_Module *module = nullptr;
  std::vector<Range> ranges; // by begin

  void addUnit(Dwarf_Die &unit) {
    Dwarf_Addr base = 0, begin = 0, end = 0;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(&unit, at, &base, &begin, &end)) > 0;)
      if (begin < end)
        ranges.push_back({begin, end, unit});
  }
  Dwarf_Die *unitAt(uint64_t address) {
    auto found = std::upper_bound(ranges.begin(), ranges.end(), address,
                                  [](uint64_t value, const Range &range) { return value < range.begin; });
    return found != ranges.begin() && address < std::prev(found)->end ? &std::prev(found)->unit : nullptr;
  }
};

DebugInfo::DebugInfo() = default;
DebugInfo::DebugInfo(std::unique_ptr<State> state) : state_(std::move(state)) {}
DebugInfo::DebugInfo(DebugInfo &&) noexcept = default;
DebugInfo &DebugInfo::operator=(DebugInfo &&) noexcept = default;
DebugInfo::~DebugInfo() = default;

// Not by .debug_aranges, which clang does not write.
DebugInfo DebugInfo::open(const std::filesystem::path &image, const std::filesystem::path &debug_folder) {
  auto state = std::make_unique<State>();
  // "+": the checksum of a .gnu_debuglink is compared. Beside the image, in .debug there, and in the folder.
  state->debug_path = "+:.debug:" + debug_folder.string();
  state->debug_path_pointer = state->debug_path.data();
  state->callbacks.find_elf = dwfl_build_id_find_elf;
  state->callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
  state->callbacks.section_address = dwfl_offline_section_address;
  state->callbacks.debuginfo_path = &state->debug_path_pointer;
  state->session.reset(dwfl_begin(&state->callbacks));
  if (!state->session)
    return {};
  state->module = dwfl_report_offline(state->session.get(), image.filename().c_str(), image.c_str(), -1);
  dwfl_report_end(state->session.get(), nullptr, nullptr);
  Dwarf_Addr bias = 0;
  Dwarf *dwarf = state->module ? dwfl_module_getdwarf(state->module, &bias) : nullptr;
  if (!dwarf)
    return {};
  Dwarf_CU *unit = nullptr;
  Dwarf_Die die;
  while (dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &die, nullptr) == 0)
    if (dwarf_tag(&die) == DW_TAG_compile_unit)
      state->addUnit(die);
  std::sort(state->ranges.begin(), state->ranges.end(),
            [](const Range &left, const Range &right) { return left.begin < right.begin; });
  return DebugInfo(std::move(state));
}

std::vector<CodePlace> DebugInfo::at(uint64_t address) const {
  Dwarf_Die *unit = state_ ? state_->unitAt(address) : nullptr;
  if (!unit)
    return {};
  CodePlace place;
  if (Dwarf_Line *line = dwarf_getsrc_die(unit, address)) {
    int number = 0;
    place.file = absolute(textOf(dwarf_linesrc(line, nullptr, nullptr)), *unit);
    if (dwarf_lineno(line, &number) == 0)
      place.line = static_cast<uint32_t>(std::max(number, 0));
    if (dwarf_linecol(line, &number) == 0)
      place.column = static_cast<uint32_t>(std::max(number, 0));
  }
  Dwarf_Files *files = nullptr;
  size_t count = 0;
  if (dwarf_getsrcfiles(unit, &files, &count) != 0)
    files = nullptr;
  std::vector<CodePlace> places;
  for (Dwarf_Die &function : functionsAt(*unit, address)) {
    place.function = linkageNameOf(function);
    places.push_back(place);
    if (dwarf_tag(&function) != DW_TAG_inlined_subroutine)
      break;
    place = {};
    if (const uint32_t file = numberOf(function, DW_AT_call_file); files && file < count)
      place.file = absolute(textOf(dwarf_filesrc(files, file, nullptr, nullptr)), *unit);
    place.line = numberOf(function, DW_AT_call_line);
    place.column = numberOf(function, DW_AT_call_column);
  }
  if (places.empty() && place.line != 0)
    places.push_back(place);
  return places;
}

} // namespace msleaks::analysis
