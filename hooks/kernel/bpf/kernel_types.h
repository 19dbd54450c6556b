// The fields of the kernel's own types that the programs read. The loader relocates each access to the running kernel
// (CO-RE), so these structs need neither the order nor the other fields of the kernel's.
#ifndef MSLEAKS_KERNEL_TYPES_H
#define MSLEAKS_KERNEL_TYPES_H

#include <linux/bpf.h>

#define RELOCATED __attribute__((preserve_access_index))

typedef struct {
  int counter;
} atomic_t;

struct signal_struct {
  atomic_t live;
} RELOCATED;

struct task_struct {
  int pid, tgid;
  char comm[16];
  unsigned int __state;
  struct task_struct *real_parent;
  struct signal_struct *signal;
} RELOCATED;

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
  unsigned long di, si, dx, r10, r8, r9, orig_ax, ip;
} RELOCATED;
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
  unsigned long regs[31];
  unsigned long pc, orig_x0;
  int syscallno;
} RELOCATED;
#endif

#endif
