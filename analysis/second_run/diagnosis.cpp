#include "analysis/second_run/diagnosis.h"

#include "analysis/base/text.h"
#include "analysis/places/driver_functions.h"
#include "analysis/places/symbolizer.h"
#include "analysis/second_run/vocabulary.h"
#include "msleaks/abi/symbols.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace msleaks::analysis::inline second_run {
namespace {

using Visibility = LibraryFile::Visibility;

// A file that defines this function and operator new contains the C++ library, whose operator new calls malloc.
constexpr char kNewOfLibrary[] = "_ZSt15get_new_handlerv";
constexpr char kRuntimeEntry[] = "__msl_arm_v2";
constexpr char kAll[] = "*";
constexpr char kMalloc[] = "malloc", kOwnAllocator[] = "own", kBreakAllocator[] = "brk";
constexpr const char *kBreaks[] = {"sbrk", "brk"};

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

// CUDA's runtime calls CUDA's driver, and the driver's functions have hooks of their own.
bool hasHookedDriver(const std::string &symbol) { return symbol.starts_with("cuda"); }

// Whether code that the plugin compiled still reaches the runtime. If an image cannot reach the runtime, the runtime
// cannot arm it.
bool reachesPlugin(Reason reason) {
  return reason != Reason::Namespace && reason != Reason::NotInherited && reason != Reason::NotLoaded &&
         reason != Reason::OtherWidth;
}

// Whether the reason applies to the whole library, and not only to one function.
bool isOfLibrary(Reason reason) {
  return reason != Reason::NoRow && reason != Reason::NoHook && reason != Reason::SystemMemory &&
         reason != Reason::Allocator;
}

// Examines one image of a process.
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
    takeAllocator();
    if (is_own_affair)
      followSystem();
    else if (isStatic())
      followStatic();
    else if (!view_.has_hooks)
      followWithoutHooks();
    else
      follow();
    noteRecorded();
    takeDriver();
    return std::move(diagnosis_);
  }

private:
  const LibraryFile &file() const { return *image_.file; }
  bool isStatic() const { return image_.is_program && !view_.has_hooks && !file().has_loader; }

  void takePass() {
    diagnosis_.is_instrumented = file().is_instrumented;
    if (file().is_symbolic)
      addTrait(Reason::Symbolic);
    if (isStatic())
      addTrait(Reason::StaticProgram);
    for (const std::string &text : file().producers) {
      const Producer producer = parseProducer(text);
      diagnosis_.pass.insert(producer.pass);
      diagnosis_.llvm.insert(producer.llvm);
    }
  }

  void takeAllocator() {
    for (const auto &[symbol, definition] : file().definitions) {
      if (const char *name = allocatorMarkedBy(symbol))
        diagnosis_.allocator = name;
      if (const char *text = poolNote(symbol))
        note(text);
    }
    const bool is_libc = diagnosis_.role != Role::Ordinary || isStatic();
    if (diagnosis_.allocator.empty() && file().definitions.contains(kMalloc) && !is_libc)
      diagnosis_.allocator = std::ranges::any_of(kBreaks, [this](const char *name) { return imports(name); })
                                 ? kBreakAllocator
                                 : kOwnAllocator;
  }

  void takeDriver() {
    if (diagnosis_.role != Role::Driver)
      return;
    DriverFunctions functions = driverFunctionsOf(file(), hooked_);
    if (functions.exported != 0)
      diagnosis_.driver = std::move(functions);
  }

  bool imports(const std::string &symbol) const { return std::ranges::binary_search(file().imports, symbol); }

  void note(std::string text) { diagnosis_.notes.insert(std::move(text)); }

  // Adds an unseen function. But code that the plugin compiled calls the runtime itself, so its calls may be recorded
  // all the same.
  void unseen(const std::string &symbol, Reason reason, const std::string &about = "") {
    UnseenFunction function = unseenFor(symbol, reason, about);
    if (isOfLibrary(reason))
      addTrait(reason);
    if (diagnosis_.is_instrumented && isRow(symbol) && reachesPlugin(reason))
      recorded_[function.reason].push_back(demangle(symbol));
    else
      diagnosis_.unseen.insert(std::move(function));
  }

  void addTrait(Reason reason) { diagnosis_.traits.emplace(nameOf(reason)); }

  void noteRecorded() {
    for (const auto &[reason, symbols] : recorded_)
      note(fmt::format("{}: {}; code that the plugin compiled is still recorded", fmt::join(symbols, ", "), reason));
  }

  void followSystem() {
    for (const LibraryFile::Slot &slot : file().slots)
      if (hooked_.holds(slot.symbol) && boundTo(view_, hooked_, image_, slot).binding == Binding::Hook)
        diagnosis_.hooked.insert(slot.symbol);
  }

  void followStatic() {
    if (file().is_instrumented && file().definitions.contains(kRuntimeEntry))
      return note("linked statically with the runtime of msleaks: only code that the plugin compiled is recorded, "
                  "there are no hooks");
    std::vector<std::string> symbols;
    for (const auto &[symbol, definition] : file().definitions)
      if (isAllocation(symbol))
        symbols.push_back(symbol);
    if (symbols.empty())
      symbols.push_back(kAll);
    for (const std::string &symbol : symbols)
      diagnosis_.unseen.insert(unseenFor(symbol, Reason::StaticProgram));
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
    return name.empty() || name == kOwnAllocator || name == kBreakAllocator ? "" : fmt::format(" ({})", name);
  }

  void followSlots() {
    std::vector<std::string> unbound; // functions that were not called yet
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
    for (const std::string &symbol : unbound)
      followUnbound(symbol, is_deep);
  }

  // Finds where the dynamic linker will find the function. The library's other functions tell where the linker begins
  // to look.
  void followUnbound(const std::string &symbol, bool is_deep) {
    if (is_deep)
      return unseen(symbol, Reason::DeepBind, "another one");
    const auto before = std::ranges::find_if(view_.images, [&symbol](const Image &image) {
      if (!image.file || (!image.is_program && roleOf(image.path) != Role::Sanitizer))
        return false;
      const auto own = image.file->definitions.find(symbol);
      return own != image.file->definitions.end() && own->second.visibility != Visibility::Local;
    });
    if (before == view_.images.end())
      diagnosis_.hooked.insert(symbol);
    else
      followBypass(symbol, {Binding::Other, &*before});
  }

  Reason followBypass(const std::string &symbol, const Bound &bound) {
    const auto [reason, about] = reasonOf(bound);
    unseen(symbol, reason, about);
    return reason;
  }

  std::pair<Reason, std::string> reasonOf(const Bound &bound) const {
    if (bound.binding == Binding::Nowhere)
      return {Reason::Before, "code of no library"};
    if (bound.binding == Binding::Own && file().is_symbolic)
      return {Reason::Symbolic, allocatorText()};
    if (bound.binding == Binding::Own)
      return image_.is_program ? std::pair{Reason::Own, allocatorText()}
                               : std::pair{Reason::DeepBind, std::string("its own")};
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
    return {Reason::DeepBind, fmt::format("that of {}", name)};
  }

  bool hasSlot(const std::string &symbol) const {
    return std::ranges::find(file().slots, symbol, &LibraryFile::Slot::symbol) != file().slots.end();
  }

  // Finds calls of the file's own definitions that use no slot.
  void followDefinitions() {
    const bool is_supply = standsBehind();
    bool is_static_library = false;
    for (const auto &[symbol, definition] : file().definitions) {
      const auto reason = reasonOf(definition);
      // If such an allocator calls a function of its own, this call is a part of the call that came to it.
      if (!reason || hasSlot(symbol) || (is_supply && *reason == Reason::BoundAtLink))
        continue;
      if (allocatorCalledBy(symbol) != nullptr && definition.is_called)
        unseen(symbol, Reason::Allocator, diagnosis_.allocator);
      if (!hooked_.holds(symbol))
        continue;
      if (isOperator(symbol) && file().definitions.contains(kNewOfLibrary) && diagnosis_.hooked.contains(kMalloc))
        is_static_library = true;
      else if (isOfHost(symbol))
        unseen(symbol, *reason, allocatorText());
      else
        followStaticRuntime(symbol);
    }
    if (is_static_library)
      note(
          "the C++ library is linked into it statically: its operator new has no hook, but it calls malloc, whose hook "
          "records the blocks");
    if (is_supply && diagnosis_.unseen.empty())
      note("the hooks call its malloc: they record each block, but not the mappings from which this malloc takes the "
           "blocks");
  }

  // Whether the file has an allocator for other files, which reach it through the hooks.
  bool standsBehind() const {
    const auto own = file().definitions.find(kMalloc);
    return own != file().definitions.end() && !reasonOf(own->second);
  }

  // Returns why calls of the file go to its own definition. None: as far as can be seen, they do not.
  std::optional<Reason> reasonOf(const LibraryFile::Definition &definition) const {
    if (image_.is_program)
      return Reason::Own;
    if (definition.visibility == Visibility::Local)
      return Reason::Hidden;
    if (definition.visibility == Visibility::Protected)
      return Reason::Protected;
    if (file().is_symbolic)
      return Reason::Symbolic;
    return definition.is_called ? std::optional(Reason::BoundAtLink) : std::nullopt;
  }

  void followStaticRuntime(const std::string &symbol) {
    if (diagnosis_.role == Role::Driver)
      return;
    addTrait(Reason::StaticRuntime);
    if (hasHookedDriver(symbol))
      note("CUDA's runtime is linked into it statically: the hooks of the driver's functions see its calls of "
           "libcuda");
    else
      unseen(symbol, Reason::StaticRuntime);
  }

  void followImports() {
    for (const std::string &symbol : file().imports) {
      const Binding binding = bindingOf(symbol);
      if (hooked_.holds(symbol) || binding == Binding::Missing)
        continue;
      const std::string when = binding == Binding::Unbound ? " (not called in this run)" : "";
      if (const char *what = systemMemory(symbol); what != nullptr && !standsBehind())
        unseen(symbol, Reason::SystemMemory, what + when);
      else if (const char *allocator = allocatorCalledBy(symbol))
        unseen(symbol, Reason::Allocator, allocator);
      else if (isAllocation(symbol))
        unseen(symbol, Reason::NoHook, when);
      else if (const char *function = driverFunction(symbol); function != nullptr && diagnosis_.role != Role::Driver)
        unseen(symbol, Reason::NoRow, function + when);
    }
  }

  // Returns where the calls lead. Unbound: the dynamic linker still waits for the first call. Other: also all symbols
  // without a slot.
  Binding bindingOf(const std::string &symbol) const {
    const auto slot = std::ranges::find(file().slots, symbol, &LibraryFile::Slot::symbol);
    return slot != file().slots.end() ? boundTo(view_, hooked_, image_, *slot).binding : Binding::Other;
  }

  const ProcessView &view_;
  const HookedSymbols &hooked_;
  const Image &image_;
  LibraryDiagnosis diagnosis_;
  std::map<std::string, std::vector<std::string>> recorded_; // keys: the reason why no hook sees the functions
};

} // namespace

void LibraryDiagnosis::add(const LibraryDiagnosis &other) {
  is_program |= other.is_program;
  traits.insert(other.traits.begin(), other.traits.end());
  hooked.insert(other.hooked.begin(), other.hooked.end());
  unseen.insert(other.unseen.begin(), other.unseen.end());
  notes.insert(other.notes.begin(), other.notes.end());
}

NameFilter wantedNames(const HookedSymbols &hooked) {
  return [hooked](const std::string &symbol) {
    return hooked.holds(symbol) || isRow(symbol) || systemMemory(symbol) != nullptr ||
           driverFunction(symbol) != nullptr || isOfDriver(symbol) || allocatorMarkedBy(symbol) != nullptr ||
           allocatorCalledBy(symbol) != nullptr || poolNote(symbol) != nullptr || symbol == kNewOfLibrary ||
           symbol == kRuntimeEntry || symbol == kLibcEntry;
  };
}

std::vector<LibraryDiagnosis> diagnose(const ProcessView &view, const HookedSymbols &hooked) {
  std::vector<LibraryDiagnosis> libraries;
  for (const Image &image : view.images)
    if (!hooked.areIn(image.path))
      libraries.push_back(Examination(view, hooked, image).run());
  return libraries;
}

} // namespace msleaks::analysis::inline second_run
