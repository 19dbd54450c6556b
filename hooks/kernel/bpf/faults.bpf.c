// Page faults of the program's own instructions. A fault begins at a tracepoint. Its end is the kernel's own count of
// the fault, a software event of perf. Without this event, the duration is not known.
#include "common.bpf.h"

struct Faulting {
  u64 begin_ns, address, instruction, access;
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct Faulting);
} faulting SEC(".maps");

static __always_inline void tellFault(const struct Faulting *fault, u64 end_ns) {
  struct FaultRecord *record = reserveRecord(sizeof *record, kFaultRecord);
  struct Counts *count = countEnd(record);
  if (!record)
    return;
  record->head.who = runningIds();
  record->head.begin_ns = fault->begin_ns;
  record->head.end_ns = end_ns;
  record->address = fault->address;
  record->instruction = fault->instruction;
  record->access = fault->access;
  submitRecord(record, count ? count->delivered : 0);
}

#if defined(__TARGET_ARCH_x86)
#define INSTRUCTION(regs) (regs)->ip
#else
#define INSTRUCTION(regs) (regs)->pc
#endif

SEC("?tp_btf/page_fault_user")
int BPF_PROG(begin_btf, unsigned long address, struct pt_regs *regs, unsigned long access) {
  if (!runsFollowed())
    return 0;
  struct Counts *count = countsHere();
  if (!count)
    return 0;
  ++count->entered;
  struct Faulting *fault =
      bpf_task_storage_get(&faulting, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!fault) {
    ++count->map_full;
    return 0;
  }
  if (fault->begin_ns)
    ++count->unreturned; // it ended in a signal, or was repeated
  fault->begin_ns = bpf_ktime_get_ns();
  fault->address = address;
  fault->instruction = INSTRUCTION(regs);
  fault->access = access;
  return 0;
}

SEC("?perf_event") int end_of_fault(void *context) {
  struct Faulting *fault = bpf_task_storage_get(&faulting, bpf_get_current_task_btf(), 0, 0);
  if (!fault || !fault->begin_ns)
    return 0;
  tellFault(fault, bpf_ktime_get_ns());
  fault->begin_ns = 0;
  return 0;
}

SEC("?tp_btf/page_fault_user")
int BPF_PROG(moment_btf, unsigned long address, struct pt_regs *regs, unsigned long access) {
  if (!runsFollowed())
    return 0;
  struct Counts *count = countsHere();
  if (count)
    ++count->entered;
  u64 now = bpf_ktime_get_ns();
  struct Faulting fault = {now, address, INSTRUCTION(regs), access};
  tellFault(&fault, now);
  return 0;
}
