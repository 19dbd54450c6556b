// The memory functions in the file of a library or program: those that it imports, and those that it defines.
// Nobody vouches for the file: damaged parts count as missing.
#pragma once

#include "analysis/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis::inline second_run {

struct LibraryFile {
  // A word that the dynamic linker fills with the address of the function.
  struct Slot {
    std::string symbol;
    uint64_t address = 0;
    bool operator==(const Slot &) const = default;
  };
  enum class Visibility { Exported, Protected, Local };
  struct Definition {
    uint64_t address = 0;
    Visibility visibility = Visibility::Local;
    bool is_called = false; // directly, by its own code
    bool operator==(const Definition &) const = default;
  };

  bool is_32bit = false;
  bool has_loader = false;                       // names a dynamic linker, as programs do, and the C library
  bool is_symbolic = false;                      // linked with -Bsymbolic
  bool is_program = false;                       // it says that it is no library; old ones say nothing
  std::vector<Slot> slots;                       // of functions that are wanted
  std::vector<std::string> imports;              // functions that are wanted and somebody else has
  std::map<std::string, uint64_t> entries;       // by import: the address of the program's own stub for it
  std::map<std::string, Definition> definitions; // of functions that are wanted
  bool is_instrumented = false;
  std::vector<std::string> producers; // "MemPass 0.1 LLVM 22.1.8", of each unit with sites, each once
};

using NameFilter = std::function<bool(const std::string &)>;

// Of all its symbols those that are wanted.
Result<LibraryFile> readLibraryFile(const std::filesystem::path &, const NameFilter &wanted);

// Of "MemPass 0.1 LLVM 22.1.8"; empty where it does not say so.
struct Producer {
  std::string pass, llvm;
};
Producer parseProducer(std::string_view text);

// Calls that a linker has bound for ever: found in the code, as nothing else tells of them.
enum class Processor { X86_64, AArch64, Other };

// Which of `targets` the code, which lies at `address`, calls or jumps to directly. Where a byte belongs to no call it
// is still looked at as one: a hit by chance is as rare as four bytes that agree.
std::set<uint64_t> calledDirectly(Processor, std::span<const std::byte> code, uint64_t address,
                                  const std::set<uint64_t> &targets);

} // namespace msleaks::analysis::inline second_run
