#include "code_table.h"

#include "objects.h"
#include "text.h"

#include "../definitions.h"
#include "../own_memory.h"

#include "msleaks/abi/python_file.h"
#include "msleaks/runtime/fnv.h"

namespace msleaks::runtime::python {
namespace {

// Whether the code may be deleted while the program runs on. Then other code may get its address.
bool mayBeDeleted(std::string_view file, std::string_view name) noexcept {
  const bool is_generated = file.starts_with('<') && !file.starts_with("<frozen ");
  return is_generated || name == "<module>" || file.find("/ipykernel_") != file.npos;
}

// Newer versions of PyTorch have one more function of this name, whose first local variable is no module.
bool isModuleCall(const Call &call, std::string_view file, std::string_view name) noexcept {
  return abi::callsTorchModule(file, name) && python.layout.locals != 0 && dictOf(selfOf(call)) != 0;
}

// The content of the entry with this name of a module. Not 0, and not a result of instanceOf().
uint64_t contentOfModule(std::string_view name) noexcept { return fnv(kFnvBegin, name.data(), name.size()) | 1; }

} // namespace

uint32_t CodeTable::slotOf(const Call &call) const noexcept {
  for (uint32_t slot = firstSlotOf(call);; slot = (slot + 1) % kSlots) {
    const uint32_t index = slots_[slot].load(std::memory_order_acquire);
    if (index == 0)
      return slot;
    if (const Entry &entry = entries_[index - 1];
        entry.address == call.code && entry.parts == call.parts && entry.content == call.content)
      return slot;
  }
}

const CodeTable::Entry *CodeTable::entryOf(const Call &call) const noexcept {
  const uint32_t index = slots_[slotOf(call)].load(std::memory_order_acquire);
  return index != 0 ? &entries_[index - 1] : nullptr;
}

void CodeTable::insert(const Call &call, const Code &code) noexcept {
  const uint32_t slot = slotOf(call), index = count_.load(std::memory_order_relaxed);
  entries_[index] = {call.code, call.parts, call.content, code};
  count_.store(index + 1, std::memory_order_relaxed);
  slots_[slot].store(index + 1, std::memory_order_release);
}

Code CodeTable::find(Call &call) const noexcept {
  call.content = 0;
  const Entry *entry = entryOf(call);
  if (entry != nullptr && entry->code.is_module)
    call.content = instanceOf(call);
  if (entry != nullptr && entry->code.number == 0) {
    call.content = contentOf(call);
    entry = entryOf(call);
  }
  return entry != nullptr ? entry->code : Code{};
}

// Defines new code, and inserts it. `module` is empty, or the name of the module that the code calls.
Code CodeTable::define(Arena &arena, const Call &call, std::string_view module) noexcept {
  const std::string_view file = textOf(python.layout, valueAt<uint64_t>(call.code, python.layout.file), file_);
  const std::string_view name = textOf(python.layout, valueAt<uint64_t>(call.code, python.layout.name), name_);
  const auto first_line = valueAt<uint32_t>(call.code, python.layout.first_line);
  const bool may_be_deleted = mayBeDeleted(file, name);
  const uint32_t number = count_.load(std::memory_order_relaxed) + 1;
  if (!definePythonCode(arena, {number, first_line, 0, 0}, file, name) ||
      (!module.empty() && !definePythonModule(arena, number, module)))
    return {};
  Call defined = call;
  if (call.content == 0 && may_be_deleted) {
    insert(call, {});
    defined.content = contentOf(call);
  }
  const Code code{number, abi::isPythonImport(file), abi::isUsersPython(file),
                  module.empty() && isModuleCall(call, file, name)};
  insert(defined, code);
  if (isFull())
    defineNote(arena, "paths lack calls of Python code: the program has run more than 65,000 different functions");
  return code;
}

Code CodeTable::add(Arena &arena, Call &call) noexcept {
  if (!isCode(call.code))
    return {};
  if (const Code known = find(call); known.number != 0 || isFull())
    return known;
  return define(arena, call, {}).number != 0 ? find(call) : Code{};
}

Code CodeTable::findModule(Call call, std::string_view name) const noexcept {
  call.content = contentOfModule(name);
  const Entry *entry = entryOf(call);
  return entry != nullptr ? entry->code : Code{};
}

Code CodeTable::addModule(Arena &arena, Call call, std::string_view name) noexcept {
  if (const Code known = findModule(call, name); known.number != 0 || isFull())
    return known;
  call.content = contentOfModule(name);
  return define(arena, call, name);
}

CodeTable *codeTableOf() noexcept {
  if (__msl_process.python_codes == nullptr)
    if (auto *table = static_cast<CodeTable *>(mapAnonymous(sizeof(CodeTable))))
      __atomic_store_n(&__msl_process.python_codes, table, __ATOMIC_RELEASE);
  return __msl_process.python_codes;
}

} // namespace msleaks::runtime::python
