#include "kernel/objects.h"

namespace msleaks::kernel::objects {

#ifdef MSLEAKS_BPF_FOLDER
// The loader needs an alignment of 8 bytes.
#define MSL_EMBED(name)                                                                                                \
  __asm__(".pushsection .rodata\n.balign 8\nmsl_bpf_" #name ":\n.incbin \"" MSLEAKS_BPF_FOLDER "/" #name               \
          ".bpf.o\"\nmsl_bpf_" #name "_end:\n.byte 0\n.popsection\n");                                                 \
  extern "C" {                                                                                                         \
  [[gnu::visibility("hidden")]] extern const std::byte msl_bpf_##name[], msl_bpf_##name##_end[];                       \
  }                                                                                                                    \
  std::span<const std::byte> name() { return {msl_bpf_##name, msl_bpf_##name##_end}; }
#else
#define MSL_EMBED(name)                                                                                                \
  std::span<const std::byte> name() { return {}; }
#endif

MSL_EMBED(processes)
MSL_EMBED(syscalls)
MSL_EMBED(sched)
MSL_EMBED(faults)
MSL_EMBED(pci)
MSL_EMBED(fence)
MSL_EMBED(block)

} // namespace msleaks::kernel::objects
