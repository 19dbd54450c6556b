#include "analysis/doctor/diagnosis.h"

#include "analysis/base/base_name.h"
#include "analysis/doctor/bindings.h"
#include "analysis/places/symbolizer.h"
#include "msleaks/abi/symbols.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis {
namespace {

using Visibility = LibraryFile::Visibility;

struct ReasonText {
  std::string_view name;
  const char *reason, *remedy;
};
constexpr ReasonText kReasons[] = {
#define MSL_REASON(name, text, reason, remedy) {text, reason, remedy},
#include "reasons.def"
};

const ReasonText &textOf(Reason reason) { return kReasons[static_cast<size_t>(reason)]; }

// Who defines it beside operator new has that from the C++ library, whose operator new asks malloc.
constexpr char kNewOfLibrary[] = "_ZSt15get_new_handlerv";
constexpr char kRuntimeEntry[] = "__msl_arm_v2";
constexpr char kAll[] = "*";

bool isAllocation(const std::string &symbol) {
  using msleaks::abi::Verb;
  const msleaks::abi::Symbol *row = msleaks::abi::findSymbol(symbol);
  return row != nullptr && (row->verb == Verb::Alloc || row->verb == Verb::Realloc || row->verb == Verb::Map);
}

bool isOfHost(const std::string &symbol) {
  using msleaks::abi::Family;
  const msleaks::abi::Symbol *row = msleaks::abi::findSymbol(symbol);
  return row != nullptr && (row->family == Family::Heap || row->family == Family::Mmap);
}

bool isOperator(const std::string &symbol) {
  return isOfHost(symbol) && (symbol.starts_with("_Zn") || symbol.starts_with("_Zd"));
}

// What CUDA's runtime does, its driver does for it, behind hooks of its own.
bool hasHookedDriver(const std::string &symbol) { return symbol.starts_with("cuda"); }

// A runtime that the image cannot reach cannot arm it.
bool reachesPlugin(Reason reason) {
  return reason != Reason::Namespace && reason != Reason::NotInherited && reason != Reason::NotLoaded &&
         reason != Reason::OtherWidth;
}

// One image of a process.
class Examination {
public:
  Examination(const ProcessView &view, const HookedSymbols &hooked, const Image &image)
      : view_(view), hooked_(hooked), image_(image) {
    diagnosis_.path = image.path;
    diagnosis_.role = roleOf(image.path);
    diagnosis_.is_program = image.is_program;
  }

  LibraryDiagnosis run() {
    const bool is_own_affair = diagnosis_.role == Role::System || diagnosis_.role == Role::Sanitizer;
    if (!image_.file && !is_own_affair)
      unseen(kAll, Reason::Unreadable, image_.why);
    if (!image_.file)
      return std::move(diagnosis_);
    takePass();
    if (is_own_affair)
      followSystem();
    else if (image_.is_program && !view_.has_hooks && !file().has_loader)
      followStatic();
    else if (!view_.has_hooks)
      followWithoutHooks();
    else
      follow();
    return std::move(diagnosis_);
  }

private:
  const LibraryFile &file() const { return *image_.file; }

  void takePass() {
    diagnosis_.is_instrumented = file().is_instrumented;
    for (const std::string &text : file().producers) {
      const Producer producer = parseProducer(text);
      diagnosis_.pass.insert(producer.pass);
      diagnosis_.llvm.insert(producer.llvm);
    }
    for (const auto &[symbol, definition] : file().definitions)
      if (const char *name = allocatorMarkedBy(symbol))
        diagnosis_.allocator = name;
    const auto own = file().definitions.find("malloc");
    if (!diagnosis_.allocator.empty() || own == file().definitions.end() || diagnosis_.role != Role::Ordinary)
      return;
    const bool has_break = std::ranges::any_of(file().imports, [](const auto &name) { return systemMemory(name); });
    diagnosis_.allocator = has_break ? "brk" : "own";
  }

  void note(std::string text) { diagnosis_.notes.insert(std::move(text)); }

  void unseen(const std::string &symbol, Reason reason, std::string_view about = "") {
    const ReasonText &text = textOf(reason);
    std::string words = fmt::format(fmt::runtime(text.reason), about);
    if (file_is_instrumented() && isRow(symbol) && reachesPlugin(reason))
      note(fmt::format("{}: {}; what the plugin compiled of it is recorded all the same", demangle(symbol), words));
    else
      diagnosis_.unseen.insert({symbol, reason, std::move(words), text.remedy});
  }

  bool file_is_instrumented() const { return diagnosis_.is_instrumented; }

  void followSystem() {
    for (const LibraryFile::Slot &slot : file().slots)
      if (hooked_.holds(slot.symbol) && boundTo(view_, hooked_, image_, slot).binding == Binding::Hook)
        diagnosis_.hooked.insert(slot.symbol);
  }

  void followStatic() {
    if (file().is_instrumented && file().definitions.contains(kRuntimeEntry))
      return note(
          "linked statically with the runtime of msleaks: what the plugin compiled is recorded, no hook is there");
    diagnosis_.is_instrumented = false; // nobody arms it
    bool found = false;
    for (const auto &[symbol, definition] : file().definitions)
      if (isAllocation(symbol)) {
        unseen(symbol, Reason::StaticProgram);
        found = true;
      }
    if (!found)
      unseen(kAll, Reason::StaticProgram);
    diagnosis_.is_instrumented = file().is_instrumented;
  }

  void followWithoutHooks() {
    Reason reason = Reason::NotLoaded;
    if (file().is_32bit)
      reason = Reason::OtherWidth;
    else if (view_.preload.find("libmsleaks_hooks") == std::string::npos)
      reason = Reason::NotInherited;
    for (const std::string &symbol : file().imports)
      if (hooked_.holds(symbol) && (isAllocation(symbol) || driverFunction(symbol)))
        unseen(symbol, reason);
  }

  void follow() {
    followSlots();
    followDefinitions();
    followImports();
  }

  std::string allocatorText() const {
    const std::string &name = diagnosis_.allocator;
    return name.empty() || name == "own" || name == "brk" ? "" : fmt::format(" ({})", name);
  }

  void followSlots() {
    std::vector<std::string> unbound;
    bool is_deep = false;
    for (const LibraryFile::Slot &slot : file().slots) {
      if (!hooked_.holds(slot.symbol))
        continue;
      const Bound bound = boundTo(view_, hooked_, image_, slot);
      if (bound.binding == Binding::Hook)
        diagnosis_.hooked.insert(slot.symbol);
      else if (bound.binding == Binding::Unbound)
        unbound.push_back(slot.symbol);
      else if (bound.binding != Binding::Missing)
        is_deep |= followBypass(slot.symbol, bound) == Reason::DeepBind;
    }
    // As the other functions were found.
    for (const std::string &symbol : unbound)
      if (is_deep)
        unseen(symbol, Reason::DeepBind, "others");
      else
        diagnosis_.hooked.insert(symbol);
  }

  Reason followBypass(const std::string &symbol, const Bound &bound) {
    const auto [reason, about] = reasonOf(symbol, bound);
    unseen(symbol, reason, about);
    return reason;
  }

  std::pair<Reason, std::string> reasonOf(const std::string &symbol, const Bound &bound) const {
    if (bound.binding == Binding::Nowhere)
      return {Reason::Before, "code of no library"};
    if (bound.binding == Binding::Own && file().is_symbolic)
      return {Reason::Symbolic, allocatorText()};
    if (bound.binding == Binding::Own)
      return image_.is_program ? std::pair{Reason::Own, allocatorText()}
                               : std::pair{Reason::DeepBind, "its own " + demangle(symbol)};
    const std::string name(baseName(bound.to->path));
    if (roleOf(name) == Role::Sanitizer)
      return {Reason::Sanitizer, name};
    if (bound.to->is_program)
      return {Reason::Before, "the program"};
    const Image *libc = programsLibc(view_);
    if (libc != nullptr && bound.to != libc && baseName(libc->path) == name)
      return {Reason::Namespace, name};
    if (const size_t at = view_.preload.find(name); at < view_.preload.find("libmsleaks_hooks"))
      return {Reason::Before, name};
    return {Reason::DeepBind, fmt::format("{} of {}", demangle(symbol), name)};
  }

  bool hasSlot(const std::string &symbol) const {
    return std::ranges::find(file().slots, symbol, &LibraryFile::Slot::symbol) != file().slots.end();
  }

  // Calls of its own definitions that no slot stands for.
  void followDefinitions() {
    bool is_static_library = false;
    for (const auto &[symbol, definition] : file().definitions) {
      const auto reason = reasonOf(definition);
      if (!reason || hasSlot(symbol))
        continue;
      if (allocatorCalledBy(symbol) != nullptr && definition.is_called)
        unseen(symbol, Reason::Allocator, diagnosis_.allocator);
      if (!hooked_.holds(symbol))
        continue;
      if (isOperator(symbol) && file().definitions.contains(kNewOfLibrary) && diagnosis_.hooked.contains("malloc"))
        is_static_library = true;
      else if (isOfHost(symbol))
        unseen(symbol, *reason, allocatorText());
      else
        followStaticRuntime(symbol);
    }
    if (is_static_library)
      note("the C++ library is linked into it statically: no hook stands before its operator new, which takes its "
           "blocks "
           "from malloc; they are seen there");
    if (const auto own = file().definitions.find("malloc");
        own != file().definitions.end() && !reasonOf(own->second) && diagnosis_.unseen.empty())
      note("its malloc stands behind the hooks: each block is seen, and the mappings that it cuts them from are its "
           "supply");
  }

  // Why its own calls go to a definition of its own; none: they do not, as far as can be seen.
  std::optional<Reason> reasonOf(const LibraryFile::Definition &definition) const {
    if (definition.visibility == Visibility::Local)
      return Reason::Hidden;
    if (image_.is_program)
      return Reason::Own;
    if (definition.visibility == Visibility::Protected)
      return Reason::Protected;
    if (file().is_symbolic)
      return Reason::Symbolic;
    return definition.is_called ? std::optional(Reason::BoundAtLink) : std::nullopt;
  }

  void followStaticRuntime(const std::string &symbol) {
    if (diagnosis_.role == Role::Driver)
      return;
    if (hasHookedDriver(symbol))
      note("CUDA's runtime is linked into it statically: what it asks of the driver (libcuda) is seen there, by the "
           "hooks of "
           "the driver's functions");
    else
      unseen(symbol, Reason::StaticRuntime);
  }

  void followImports() {
    const bool is_allocator = file().definitions.contains("malloc") && !image_.is_program;
    for (const std::string &symbol : file().imports) {
      if (hooked_.holds(symbol))
        continue;
      if (const char *what = systemMemory(symbol); what != nullptr && !is_allocator)
        unseen(symbol, Reason::SystemMemory, what);
      else if (const char *allocator = allocatorCalledBy(symbol))
        unseen(symbol, Reason::Allocator, allocator);
      else if (isAllocation(symbol))
        unseen(symbol, Reason::NoHook);
      else if (const char *function = driverFunction(symbol); function != nullptr && diagnosis_.role != Role::Driver)
        unseen(symbol, Reason::NoRow, function);
    }
  }

  const ProcessView &view_;
  const HookedSymbols &hooked_;
  const Image &image_;
  LibraryDiagnosis diagnosis_;
};

} // namespace

std::string_view nameOf(Reason reason) { return textOf(reason).name; }

void LibraryDiagnosis::add(const LibraryDiagnosis &other) {
  is_program |= other.is_program;
  hooked.insert(other.hooked.begin(), other.hooked.end());
  unseen.insert(other.unseen.begin(), other.unseen.end());
  notes.insert(other.notes.begin(), other.notes.end());
}

NameFilter wantedNames(const HookedSymbols &hooked) {
  return [hooked](const std::string &symbol) {
    return hooked.holds(symbol) || isRow(symbol) || systemMemory(symbol) != nullptr ||
           driverFunction(symbol) != nullptr || allocatorMarkedBy(symbol) != nullptr ||
           allocatorCalledBy(symbol) != nullptr || symbol == kNewOfLibrary || symbol == kRuntimeEntry ||
           symbol == kLibcEntry;
  };
}

std::vector<LibraryDiagnosis> diagnose(const ProcessView &view, const HookedSymbols &hooked) {
  std::vector<LibraryDiagnosis> libraries;
  for (const Image &image : view.images)
    if (!hooked.areIn(image.path))
      libraries.push_back(Examination(view, hooked, image).run());
  return libraries;
}

} // namespace msleaks::analysis
