// Finds the target of a call instruction by its bytes in the file. It is a function of the image; or, through its
// procedure linkage table (PLT), one of another image, by the name that the dynamic linker looks up.
#pragma once

#include "analysis/places/elf_file.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline places {

class CallTargets {
public:
  // Keeps the names of all imported functions, not the file.
  static CallTargets of(const ElfFile &);

  struct Target {
    std::string_view imported; // its name; empty: it is at `address`
    uint64_t address = 0;      // as in the file; 0: not known, a call through a pointer
  };
  // Of the call that returns to `address`. `file` is the one that this was made of.
  Target before(const ElfFile &file, uint64_t address) const;

private:
  struct Segment {
    uint64_t address, bytes, offset;
  };
  bool read(const ElfFile &, uint64_t address, void *to, size_t bytes) const;
  template <class T> T at(const ElfFile &, uint64_t address) const; // 0 where nothing can be read
  Target calledByX86(const ElfFile &, uint64_t address) const;
  Target calledByAArch64(const ElfFile &, uint64_t address) const;
  uint64_t slotOfX86Stub(const ElfFile &, uint64_t stub) const;
  uint64_t slotOfAArch64Stub(const ElfFile &, uint64_t stub) const;
  Target through(uint64_t slot) const;

  unsigned machine_ = 0;
  std::vector<Segment> code_;
  std::unordered_map<uint64_t, std::string> slots_; // imports by slot of the global offset table
};

} // namespace msleaks::analysis::inline places
