#include "growing_containers.h"

#include "calls.h"
#include "container.h"
#include "object_layout.h"
#include "text.h"

#include "../label_table.h"
#include "../own_memory.h"
#include "../ring.h"
#include "../text.h"
#include "../unwind/code.h"

#include "msleaks/abi/python_file.h"
#include "msleaks/runtime/errno_kept.h"
#include "msleaks/runtime/record.h"

#include <atomic>

namespace msleaks::runtime::python {
namespace {

struct LocalNames {
  uint64_t first, count; // objects
};

LocalNames localNamesOf(uint64_t code) noexcept {
  const auto names = valueAt<uint64_t>(code, python.layout.local_names);
  const uint64_t items = python.layout.minor >= 14 ? TupleLayout::kItemsFrom314 : TupleLayout::kItemsBefore314;
  return {headEndOf(names) + items, valueAt<uint64_t>(headEndOf(names), TupleLayout::kCount)};
}

constexpr char kSeparator = '@'; // of the parts of a label
constexpr uint32_t kMostBytes = 2048, kMostVariables = 1 << 10, kMostEntries = 64, kMostDepth = 3;
constexpr uint64_t kContentOfCell = 0; // from the end of its head

// Looks at containers, and remembers those that the last looks have seen. Lives in memory that is all zeros at first.
class Look {
public:
  void run(uint64_t innermost) noexcept {
    ++number_;
    left_ = kMostObjects;
    const CallsRead read = readCalls(innermost, calls_, nullptr, 0, 0);
    globals_ = 0;
    for (uint32_t i = read.count; i-- > 0;) // the outermost call first: its variables live longest
      if (const Call &call = calls_[i]; isOwn(call))
        lookInto(call);
  }

private:
  static constexpr uint32_t kMostObjects = 1 << 14, kMostKnown = 1 << 10;
  struct Known {
    uint64_t object, items;
    uint64_t number; // of the look that has seen it last
  };

  bool isOwn(const Call &call) noexcept {
    if (!isCode(call.code))
      return false;
    file_ = textOf(python.layout, valueAt<uint64_t>(call.code, python.layout.file), file_room_);
    return abi::isUsersPython(file_);
  }

  void lookInto(const Call &call) noexcept {
    function_ = textOf(python.layout, valueAt<uint64_t>(call.code, python.layout.name), function_room_);
    const LocalNames names = localNamesOf(call.code);
    for (uint64_t i = 0; left_ != 0 && i < names.count && i < kMostVariables; ++i) {
      const uint64_t value = valueAt<uint64_t>(call.frame, python.layout.locals + i * sizeof(uint64_t)) & ~uint64_t{7};
      if (value != 0)
        lookAtVariable({valueAt<uint64_t>(names.first, i * sizeof(uint64_t)), value}, {});
    }
    const auto globals = valueAt<uint64_t>(call.frame, python.layout.globals);
    if (globals == globals_)
      return;
    globals_ = globals;
    function_ = "<module>";
    const std::string_view module = firstTextOf(globals, "__name__", module_room_);
    DictEntries variables(globals);
    for (DictEntry variable; left_ != 0 && variables.next(variable);)
      lookAtVariable(variable, module);
  }

  // Looks at the attributes of a class that this module has defined.
  void lookIntoClass(const DictEntry &variable, std::string_view module) noexcept {
    const uint64_t attributes = dictOfClass(variable.value);
    char room[kMostCopiedBytes];
    if (module.empty() || firstTextOf(attributes, "__module__", room) != module)
      return;
    names_[0] = {copiedTextOf(python.layout, variable.key, name_rooms_[0]), false};
    DictEntries entries(attributes);
    for (DictEntry entry; left_ != 0 && entries.next(entry);)
      lookAt(entry.key, entry.value, false, 1);
  }

  // The text of the dict's first entry, if the entry has this key.
  static std::string_view firstTextOf(uint64_t dict, std::string_view key, std::span<char> room) noexcept {
    DictEntries entries(dict);
    DictEntry entry;
    const bool has_key = entries.next(entry) && copiedTextOf(python.layout, entry.key, room) == key;
    return has_key ? copiedTextOf(python.layout, entry.value, room) : std::string_view();
  }

  // `module` is the name of the module that has this global variable. For a local variable it is empty.
  void lookAtVariable(DictEntry variable, std::string_view module) noexcept {
    if (isClass(variable.value))
      return lookIntoClass(variable, module);
    const std::string_view class_name = classNameAt(variable.value);
    if (class_name == "module")
      return;
    if (class_name == "cell" && !unwind::copyIfThere(headEndOf(variable.value) + kContentOfCell, variable.value))
      return; // a variable of a closure
    lookAt(variable.key, variable.value, false, 0);
  }

  // Looks at an object with this name: a variable, an attribute, or an entry of a dict. Then looks at its attributes,
  // or at the entries of a small dict.
  void lookAt(uint64_t name, uint64_t object, bool is_entry, uint32_t depth) noexcept {
    --left_;
    const std::string_view text = copiedTextOf(python.layout, name, name_rooms_[depth]);
    if (text.empty() || text.starts_with("__") || text.find(kSeparator) != std::string_view::npos)
      return;
    names_[depth] = {text, is_entry};
    const Container container = containerAt(object);
    if (container.kind != nullptr)
      see(object, container, depth);
    if (container.is_dict ? container.items > kMostEntries : container.kind != nullptr || depth != 0)
      return;
    DictEntries entries = attributesOf(object);
    for (DictEntry entry; depth + 1 < kMostDepth && left_ != 0 && entries.next(entry);)
      lookAt(entry.key, entry.value, container.is_dict, depth + 1);
  }

  void see(uint64_t object, const Container &container, uint32_t depth) noexcept {
    Known *known = slotOf(object);
    if (known == nullptr || known->number == number_)
      return;
    const bool has_grown = known->object == object && container.items > known->items && known->items != 0;
    *known = {object, container.items, number_};
    if (has_grown)
      recordItems(container, depth);
  }

  void recordItems(const Container &container, uint32_t depth) noexcept {
    label_.clear();
    label_ << "python@items@";
    for (uint32_t i = 0; i <= depth; ++i)
      label_ << (i == 0 ? "" : names_[i].is_entry ? "['" : ".") << names_[i].text << (names_[i].is_entry ? "']" : "");
    label_ << "@" << function_ << "@" << container.kind << "@" << classNameAt(container.item) << "@" << file_;
    if (label_.fits())
      record(__msl_thread, abi::CounterEvent{{abi::EventKind::Counter, abi::Heap::Host, 0, 0, 0, 0},
                                             labelOf(label_.c_str()),
                                             container.items});
  }

  std::string_view classNameAt(uint64_t object) noexcept { return copiedClassName(object, class_room_); }

  // The entry of this object, or one for it: an empty one, or one that the last look has not seen. Null: there is none.
  Known *slotOf(uint64_t object) noexcept {
    constexpr uint32_t kProbes = 8;
    const auto first = static_cast<uint32_t>(object * 0x9e37'79b9'7f4a'7c15 >> 40);
    Known *room = nullptr;
    for (uint32_t i = 0; i < kProbes; ++i) {
      Known &entry = known_[(first + i) % kMostKnown];
      if (entry.object == object)
        return &entry;
      if (room == nullptr && (entry.object == 0 || entry.number + 1 < number_))
        room = &entry;
    }
    return room;
  }

  uint64_t number_ = 0, globals_ = 0;
  uint32_t left_ = 0; // number of objects that this look may still read
  std::string_view file_, function_;
  struct Name {
    std::string_view text;
    bool is_entry;
  } names_[kMostDepth]; // from the variable to the object
  Text<kMostBytes> label_;
  Known known_[kMostKnown];
  Call calls_[kMaxCalls];
  char file_room_[1024], function_room_[256], class_room_[64], module_room_[kMostCopiedBytes],
      name_rooms_[kMostDepth][kMostCopiedBytes];
};

constinit std::atomic<Look *> look{nullptr};
constinit std::atomic<uint64_t> steps{0};

// Whether a look is due in the step with this number: two in each power of two.
constexpr bool isDue(uint64_t step) {
  return (step & (step - 1)) == 0 || (step % 3 == 0 && ((step / 3) & (step / 3 - 1)) == 0);
}

// Takes the process' Look. Makes one at first, and while another thread uses it. Null: there is no memory.
Look *take() noexcept {
  Look *taken = look.exchange(nullptr, std::memory_order_acquire);
  return taken != nullptr ? taken : static_cast<Look *>(mapAnonymous(sizeof(Look)));
}

} // namespace

void lookAtContainers() noexcept {
  if (!isKnown() || python.layout.globals == 0 || python.layout.local_names == 0 ||
      !isDue(steps.fetch_add(1, std::memory_order_relaxed) + 1) || !isEnabled(abi::EventKind::Counter))
    return;
  const ErrnoKept kept;
  const uint64_t innermost = innermostFrame();
  Look *taken = innermost != 0 ? take() : nullptr;
  if (taken == nullptr)
    return;
  taken->run(innermost);
  if (Look *other = look.exchange(taken, std::memory_order_release))
    unmapOwn(other);
}

} // namespace msleaks::runtime::python
