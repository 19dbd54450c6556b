// Numbers the code objects of this process: the functions and modules of Python code. A number is defined once, with
// the names of its file and function (abi::PythonCodeDefinition).
#pragma once

#include "calls.h"

#include "../arena.h"
#include "../path_tree.h"
#include "../ring.h"

#include <atomic>

namespace msleaks::runtime::python {

// A function or module of Python code.
struct Code {
  uint32_t number; // from 1; 0 = the code has no number
  bool imports;    // it is part of Python's import of modules
  bool is_own;     // the user's own code: neither of Python nor of an installed package
  bool is_module;  // it calls a module of PyTorch, which is its first local variable
};

// Call add() and addModule() with Process::lock held. Any thread calls the others without a lock, also in a signal
// handler. find() and add() set Call::content if the code may be deleted or calls a module.
class CodeTable {
public:
  // Returns the code of a call. Its number is 0 if add() was never called for it.
  Code find(Call &) const noexcept;
  // The same, and defines new code. The number is 0 if the call is not of a code object, or if the code cannot be
  // defined. The code object must be alive: the thread must be in this call.
  Code add(Arena &, Call &) noexcept;
  // The code of a call of a module, with a number of its own for each name (abi::PythonModuleDefinition).
  Code findModule(Call, std::string_view name) const noexcept;
  Code addModule(Arena &, Call, std::string_view name) noexcept;
  bool isFull() const noexcept { return count_.load(std::memory_order_relaxed) >= kMost; }

  // The slot where the search for a code begins. Thousands of pieces of generated code may have the same address after
  // each other, so their contents must lead to different slots.
  static uint32_t firstSlotOf(const Call &call) noexcept {
    const uint64_t hash = (call.code ^ (call.parts ^ call.content) * 0xff51'afd7'ed55'8ccd) * 0x9e37'79b9'7f4a'7c15;
    return static_cast<uint32_t>(hash >> 40) % kSlots;
  }

private:
  static constexpr uint32_t kMost = (1u << 16) - 2, kSlots = 1u << 17;
  // The code of an address. If this code may be deleted, the entry with content 0 has no number. Then each code that
  // has had this address has one more entry, with its content. Each name of a module has one more entry, too.
  struct Entry {
    uint64_t address, parts, content;
    Code code;
  };
  uint32_t slotOf(const Call &) const noexcept; // the slot of this code, or the empty slot for it
  const Entry *entryOf(const Call &) const noexcept;
  void insert(const Call &, const Code &) noexcept;
  Code define(Arena &, const Call &, std::string_view module) noexcept;

  std::atomic<uint32_t> count_;
  std::atomic<uint32_t> slots_[kSlots]; // a hash table of indices of entries, from 1; 0 = empty
  Entry entries_[kMost + 2];
  char file_[abi::kMaxPythonFileBytes], name_[abi::kMaxPythonNameBytes]; // the texts of the code that add() defines
};

// Returns the table of this process, and makes it if necessary. Returns null if there is no memory. Call with
// Process::lock held.
CodeTable *codeTableOf() noexcept;

// Returns find(table). If this code has no number yet, returns add(table, arena), which gives it one. The number is 0
// if there is no room.
template <class Find, class Add> Code findOrAdd(uint64_t generation, Find find, Add add) noexcept {
  if (const CodeTable *known = __atomic_load_n(&__msl_process.python_codes, __ATOMIC_ACQUIRE); known != nullptr)
    if (const Code code = find(*known); code.number != 0 || known->isFull())
      return code;
  const ArenaHeld held;
  CodeTable *codes = held && treeOf(generation) != nullptr ? codeTableOf() : nullptr;
  return codes != nullptr ? add(*codes, *__msl_process.arena) : Code{};
}

} // namespace msleaks::runtime::python
