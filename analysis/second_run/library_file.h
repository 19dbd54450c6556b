// Finds the memory functions that the file of a library or program imports or defines. The file may be damaged. Damaged
// parts count as missing.
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
  // A word into which the dynamic linker writes the address of the function.
  struct Slot {
    std::string symbol;
    uint64_t address = 0;
    bool operator==(const Slot &) const = default;
  };
  enum class Visibility { Exported, Protected, Local };
  struct Definition {
    uint64_t address = 0;
    Visibility visibility = Visibility::Local;
    bool is_called = false; // The file's own code calls it directly.
    bool operator==(const Definition &) const = default;
  };

  bool is_32bit = false;
  bool has_loader = false;                       // The file names a dynamic linker, as programs and the C library do.
  bool is_symbolic = false;                      // The file was linked with -Bsymbolic.
  bool is_program = false;                       // The file says that it is a program. Old programs say nothing.
  std::vector<Slot> slots;                       // slots of wanted functions
  std::vector<std::string> imports;              // wanted functions that another file has
  std::map<std::string, uint64_t> entries;       // by import: address of the program's own stub for the function
  std::map<std::string, Definition> definitions; // definitions of wanted functions
  bool is_instrumented = false;
  std::vector<std::string> producers; // texts like "MemPass 0.1 LLVM 22.1.8" of all units with sites, each text once
};

using NameFilter = std::function<bool(const std::string &)>;

// Reads a file. The result contains only wanted symbols.
Result<LibraryFile> readLibraryFile(const std::filesystem::path &, const NameFilter &wanted);

// The versions in a text like "MemPass 0.1 LLVM 22.1.8". Empty: the text has another form.
struct Producer {
  std::string pass, llvm;
};
Producer parseProducer(std::string_view text);

// Calls that a linker bound for good can only be found in the code.
enum class Processor { X86_64, AArch64, Other };

// Returns the members of `targets` that the code calls or jumps to directly. The code lies at `address`. The search
// also tries bytes that belong to no call. But four such bytes rarely give the address of a target.
std::set<uint64_t> calledDirectly(Processor, std::span<const std::byte> code, uint64_t address,
                                  const std::set<uint64_t> &targets);

} // namespace msleaks::analysis::inline second_run
