// Fuzzes the reader of device binaries: it reads only within the binary, and each name ends at its given end.
#include "counting/device_binary.h"

#include <cstdint>
#include <cstring>
#include <vector>

using namespace msleaks::hooks;

// Half of the inputs get a valid header, so that the input itself is sections, symbols and texts.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  const bool own_header = size > 0 && bytes[0] % 2 == 0;
  const size_t before = own_header ? sizeof header : 0;
  // The memory is exactly as large as the readable bytes, so that AddressSanitizer finds a read past the end.
  std::vector<uint8_t> binary(before + size);
  if (before > 0)
    std::memcpy(binary.data(), &header, before);
  if (size > 0)
    std::memcpy(binary.data() + before, bytes, size);
  NameOfKernels kernels;
  DeviceBinary(binary.data(), binary.size()).mentions("__msl_counted_");
  DeviceBinary(binary.data(), binary.size()).forEachKernel([&](std::string_view name) {
    if (name.empty() || name.data()[name.size()] != 0 || name.find('\0') != name.npos)
      __builtin_trap();
    kernels.add(name);
  });
  return kernels.get().size() > binary.size() ? __builtin_trap(), 1 : 0;
}
