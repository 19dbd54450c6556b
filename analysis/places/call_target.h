// Finds the target of a call instruction by its bytes in the file. The target is a function of the image. Or it is in
// another image: then the call uses the procedure linkage table (PLT), and the dynamic linker finds the target by name.
#pragma once

#include "analysis/places/elf_file.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline places {

class CallTargets {
public:
  // Stores the names of all imported functions, but does not keep the file.
  static CallTargets of(const ElfFile &);

  struct Target {
    std::string_view imported; // name of an imported function; empty: the target is at `address`
    uint64_t address = 0;      // address in the file; 0: not known, as for a call through a pointer
  };
  // Returns the target of the call that returns to `address`. `file` must be the file that was passed to of().
  Target before(const ElfFile &file, uint64_t address) const;

private:
  struct Segment {
    uint64_t address, bytes, offset;
  };
  bool read(const ElfFile &, uint64_t address, void *to, size_t bytes) const;
  template <class T> T at(const ElfFile &, uint64_t address) const; // 0 if nothing can be read
  Target calledByX86(const ElfFile &, uint64_t address) const;
  Target calledByAArch64(const ElfFile &, uint64_t address) const;
  uint64_t slotOfX86Stub(const ElfFile &, uint64_t stub) const;
  uint64_t slotOfAArch64Stub(const ElfFile &, uint64_t stub) const;
  Target through(uint64_t slot) const;

  unsigned machine_ = 0;
  std::vector<Segment> code_;
  std::unordered_map<uint64_t, std::string> slots_; // import names by slot of the global offset table
};

} // namespace msleaks::analysis::inline places
