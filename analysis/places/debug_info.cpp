#include "analysis/places/debug_info.h"

#include "analysis/base/ranges.h"
#include "analysis/places/type_layouts.h"

#include <algorithm>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <optional>
#include <unordered_map>

namespace msleaks::analysis::inline places {
namespace {

struct DwflEnd {
  void operator()(Dwfl *session) const { dwfl_end(session); }
};

// A compilation unit, and a range of its code.
struct Range {
  uint64_t begin, end;
  Dwarf_Die unit;
};

template <class F> void forEachRange(Dwarf_Die &die, const F &f) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0;)
    if (begin < end)
      f(begin, end);
}

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

// Whether compilers put functions with code there: in the unit, in namespaces, and for some languages in types.
bool mayHoldFunctions(Dwarf_Die &die) {
  switch (dwarf_tag(&die)) {
  case DW_TAG_namespace:
  case DW_TAG_module:
  case DW_TAG_class_type:
  case DW_TAG_structure_type:
    return true;
  default:
    return false;
  }
}

// A function that is not inlined, and a range of its code.
struct Function {
  uint64_t begin, end;
  Dwarf_Die die;
};

// Sorted by `begin`. libdw would search a unit from its beginning for each address, and again for the functions around
// the address. This takes 5 ms in a unit of a C++ program.
std::vector<Function> functionsOf(const Dwarf_Die &unit) {
  std::vector<Function> functions;
  std::vector<Dwarf_Die> holders{unit};
  while (!holders.empty()) {
    Dwarf_Die holder = holders.back(), die;
    holders.pop_back();
    for (int end = dwarf_child(&holder, &die); end == 0; end = dwarf_siblingof(&die, &die)) {
      if (isFunction(die))
        forEachRange(die, [&](uint64_t from, uint64_t to) { functions.push_back({from, to, die}); });
      else if (mayHoldFunctions(die))
        holders.push_back(die);
    }
  }
  std::sort(functions.begin(), functions.end(),
            [](const Function &left, const Function &right) { return left.begin < right.begin; });
  return functions;
}

// Whether definitions of variables with an address may be there: outside of functions, or inside.
bool mayHoldVariables(Dwarf_Die &die) {
  return mayHoldFunctions(die) || isFunction(die) || dwarf_tag(&die) == DW_TAG_lexical_block;
}

// The file of a definition. libdw treats file 0 as no file. In DWARF 5, file 0 is the unit's own file.
std::string fileOf(Dwarf_Die &die, const Dwarf_Die &unit) {
  const char *file = dwarf_decl_file(&die);
  Dwarf_Die of = unit;
  return textOf(file ? file : dwarf_diename(&of));
}

// The address of a variable, if it is fixed.
std::optional<uint64_t> addressOf(Dwarf_Die &variable) {
  Dwarf_Attribute location, operand;
  Dwarf_Op *operation = nullptr;
  size_t operations = 0;
  if (!dwarf_attr(&variable, DW_AT_location, &location) || dwarf_getlocation(&location, &operation, &operations) != 0 ||
      operations != 1)
    return std::nullopt;
  if (operation->atom == DW_OP_addr)
    return operation->number;
  Dwarf_Addr address = 0;
  if (operation->atom == DW_OP_addrx && dwarf_getlocation_attr(&location, operation, &operand) == 0 &&
      dwarf_formaddr(&operand, &address) == 0)
    return address;
  return std::nullopt;
}

// Sets `scope` to the first block or inlined function inside it whose code contains the address, if there is one.
bool enter(Dwarf_Die &scope, uint64_t address) {
  Dwarf_Die die;
  for (int end = dwarf_child(&scope, &die); end == 0; end = dwarf_siblingof(&die, &die))
    if (!mayHoldFunctions(die) && dwarf_haspc(&die, address) == 1) {
      scope = die;
      return true;
    }
  return false;
}

// Returns the functions that contain the address, innermost first. Only the last one is not inlined.
std::vector<Dwarf_Die> functionsAt(const std::vector<Function> &functions, uint64_t address) {
  const Function *function = rangeAt(functions, address);
  if (!function)
    return {};
  Dwarf_Die scope = function->die;
  std::vector<Dwarf_Die> found{scope};
  while (enter(scope, address))
    if (isFunction(scope))
      found.push_back(scope);
  std::reverse(found.begin(), found.end());
  return found;
}

} // namespace

struct DebugInfo::State {
  std::string debug_path; // libdwfl keeps a pointer to debug_path_pointer
  char *debug_path_pointer = nullptr;
  Dwfl_Callbacks callbacks{};
  std::unique_ptr<Dwfl, DwflEnd> session;
  Dwfl_Module *module = nullptr;
  std::vector<Range> ranges; // by begin

  std::unordered_map<Dwarf_CU *, std::vector<Function>> functions; // only of units that were asked for

  std::optional<std::unordered_map<uint64_t, CodePlace>> variables; // by address; read at the first question

  std::optional<TypeLayouts> types; // read at the first question

  Dwarf *dwarf() const {
    Dwarf_Addr bias = 0;
    return module ? dwfl_module_getdwarf(module, &bias) : nullptr;
  }
  void addVariables(const Dwarf_Die &unit, uint64_t &left);
  void addUnit(Dwarf_Die &unit) {
    forEachRange(unit, [&](uint64_t begin, uint64_t end) { ranges.push_back({begin, end, unit}); });
  }
  Dwarf_Die *unitAt(uint64_t address) {
    Range *range = rangeAt(ranges, address);
    return range ? &range->unit : nullptr;
  }
  const std::vector<Function> &functionsIn(Dwarf_Die &unit) {
    const auto [known, fresh] = functions.try_emplace(unit.cu);
    if (fresh)
      known->second = functionsOf(unit);
    return known->second;
  }
};

DebugInfo::DebugInfo() = default;
DebugInfo::DebugInfo(std::unique_ptr<State> state) : state_(std::move(state)) {}
DebugInfo::DebugInfo(DebugInfo &&) noexcept = default;
DebugInfo &DebugInfo::operator=(DebugInfo &&) noexcept = default;
DebugInfo::~DebugInfo() = default;

// Does not use .debug_aranges, because clang does not write this section.
DebugInfo DebugInfo::open(const std::filesystem::path &image, const std::filesystem::path &debug_folder) {
  auto state = std::make_unique<State>();
  // "+" compares the checksum of a .gnu_debuglink. Searches beside the image, in .debug there, and in the folder.
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
  Dwarf *dwarf = state->dwarf();
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

void DebugInfo::State::addVariables(const Dwarf_Die &unit, uint64_t &left) {
  std::vector<Dwarf_Die> holders{unit};
  while (!holders.empty() && left > 0) {
    Dwarf_Die holder = holders.back(), die;
    holders.pop_back();
    for (int end = dwarf_child(&holder, &die); end == 0 && left > 0; end = dwarf_siblingof(&die, &die), --left) {
      if (mayHoldVariables(die))
        holders.push_back(die);
      if (dwarf_tag(&die) != DW_TAG_variable)
        continue;
      const auto address = addressOf(die);
      int line = 0;
      if (address && dwarf_decl_line(&die, &line) == 0)
        variables->try_emplace(*address, CodePlace{{}, fileOf(die, unit), static_cast<uint32_t>(line), 0});
    }
  }
}

CodePlace DebugInfo::variableAt(uint64_t address) const {
  constexpr uint64_t kMostEntries = 5'000'000; // takes a second
  Dwarf *dwarf = state_ ? state_->dwarf() : nullptr;
  if (!dwarf)
    return {};
  if (!state_->variables) {
    state_->variables.emplace();
    uint64_t left = kMostEntries;
    Dwarf_CU *unit = nullptr;
    Dwarf_Die die;
    while (left > 0 && dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &die, nullptr) == 0)
      if (dwarf_tag(&die) == DW_TAG_compile_unit)
        state_->addVariables(die, left);
  }
  const auto found = state_->variables->find(address);
  return found == state_->variables->end() ? CodePlace{} : found->second;
}

void DebugInfo::forEachUnit(const std::function<void(Dwarf_Die &)> &f) const {
  Dwarf *dwarf = state_ ? state_->dwarf() : nullptr;
  Dwarf_CU *unit = nullptr;
  Dwarf_Die die;
  while (dwarf && dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &die, nullptr) == 0)
    if (dwarf_tag(&die) == DW_TAG_compile_unit)
      f(die);
}

std::string DebugInfo::memberAt(std::string_view type, uint64_t offset) const {
  Dwarf *dwarf = state_ ? state_->dwarf() : nullptr;
  if (!dwarf)
    return {};
  if (!state_->types)
    state_->types.emplace(dwarf);
  return state_->types->memberAt(type, offset);
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
  for (Dwarf_Die &function : functionsAt(state_->functionsIn(*unit), address)) {
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

} // namespace msleaks::analysis::inline places
