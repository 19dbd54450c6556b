// System calls: the begin is kept with the thread, and one record is written when the call returns or its thread ends.
#include "common.bpf.h"

struct Entered {
  u64 begin_ns, call, arguments[6];
  u32 number, is_open;
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct Entered);
} by_task SEC(".maps");

// For kernels that give raw tracepoints no task storage.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, u32);
  __type(value, struct Entered);
} by_tid SEC(".maps");

static __always_inline int isWanted(u64 number) {
  u64 word = number >> 6;
  return word < kCallWords && (settings.calls[word & (kCallWords - 1)] >> (number & 63) & 1);
}

#if defined(__TARGET_ARCH_x86)
#define CALL_NUMBER(regs) ((u32)READ(regs, orig_ax))
#define ARGUMENTS(to, regs)                                                                                            \
  to[0] = READ(regs, di), to[1] = READ(regs, si), to[2] = READ(regs, dx), to[3] = READ(regs, r10),                     \
  to[4] = READ(regs, r8), to[5] = READ(regs, r9)
#elif defined(__TARGET_ARCH_arm64)
#define CALL_NUMBER(regs) ((u32)READ(regs, syscallno))
#define ARGUMENTS(to, regs)                                                                                            \
  to[0] = READ(regs, orig_x0), to[1] = READ(regs, regs[1]), to[2] = READ(regs, regs[2]), to[3] = READ(regs, regs[3]),  \
  to[4] = READ(regs, regs[4]), to[5] = READ(regs, regs[5])
#endif

// The numbers of the calls of one run differ: they are made of the processor's count and the processor.
static __always_inline void beginCall(struct Entered *entered, struct Counts *count, long number) {
  entered->begin_ns = bpf_ktime_get_ns();
  entered->number = number;
  entered->is_open = 1;
  entered->call = count->entered * settings.cpus + bpf_get_smp_processor_id() + 1;
}

static __always_inline void endCall(struct Entered *entered, u32 number, long long result, u16 status) {
  u64 now = bpf_ktime_get_ns();
  struct Counts *count = countsHere();
  if (!count)
    return;
  struct SyscallRecord *record = bpf_ringbuf_reserve(&ring, sizeof *record, 0);
  u64 *which = status == kBeginUnseen     ? &count->unseen
               : status == kNeverReturned ? &count->unreturned
               : record                   ? &count->delivered
                                          : &count->ring_full;
  ++*which;
  if (record) { // each field is written, so nothing needs to be zeroed before
    record->head.version = kRecordVersion;
    record->head.kind = kSyscallRecord;
    record->head.cpu = bpf_get_smp_processor_id();
    record->head.who = runningIds();
    record->head.begin_ns = entered ? entered->begin_ns : now;
    record->head.end_ns = now;
    if (entered)
      __builtin_memcpy(record->arguments, entered->arguments, sizeof record->arguments);
    else
      __builtin_memset(record->arguments, 0, sizeof record->arguments);
    record->result = result;
    record->call = entered ? entered->call : 0;
    record->number = number;
    record->status = status;
    record->reserved = 0;
    submitRecord(record, count->delivered);
  }
  if (entered)
    entered->is_open = 0;
}

// The begin of an open call was followed, so its end is recorded without asking again.
static __always_inline void exitCall(struct Entered *entered, u32 number, long long result) {
  if (entered && entered->is_open)
    endCall(entered, entered->number, result, kReturned);
  else if (isWanted(number) && runsFollowed())
    endCall(0, number, result, kBeginUnseen);
}

#define READ(from, field) (from)->field
SEC("?tp_btf/sys_enter") int BPF_PROG(enter_btf, struct pt_regs *regs, long number) {
  if (!isWanted(number) || !runsFollowed())
    return 0;
  struct Counts *count = countsHere();
  if (!count)
    return 0;
  ++count->entered;
  struct Entered *entered =
      bpf_task_storage_get(&by_task, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!entered) {
    ++count->map_full;
    return 0;
  }
  beginCall(entered, count, number);
  ARGUMENTS(entered->arguments, regs);
  return 0;
}

SEC("?tp_btf/sys_exit") int BPF_PROG(exit_btf, struct pt_regs *regs, long result) {
  exitCall(bpf_task_storage_get(&by_task, bpf_get_current_task_btf(), 0, 0), CALL_NUMBER(regs), result);
  return 0;
}

SEC("?tp_btf/sched_process_exit") int BPF_PROG(end_btf) {
  struct Entered *entered = bpf_task_storage_get(&by_task, bpf_get_current_task_btf(), 0, 0);
  if (entered && entered->is_open)
    endCall(entered, entered->number, 0, kNeverReturned);
  return 0;
}
#undef READ

#define READ(from, field) BPF_CORE_READ(from, field)
SEC("?raw_tp/sys_enter") int BPF_PROG(enter_raw, struct pt_regs *regs, long number) {
  if (!isWanted(number) || !runsFollowed())
    return 0;
  struct Counts *count = countsHere();
  if (!count)
    return 0;
  ++count->entered;
  struct Entered entered = {};
  beginCall(&entered, count, number);
  ARGUMENTS(entered.arguments, regs);
  u32 tid = bpf_get_current_pid_tgid();
  if (bpf_map_update_elem(&by_tid, &tid, &entered, BPF_ANY))
    ++count->map_full;
  return 0;
}

SEC("?raw_tp/sys_exit") int BPF_PROG(exit_raw, struct pt_regs *regs, long result) {
  u32 tid = bpf_get_current_pid_tgid();
  struct Entered *entered = bpf_map_lookup_elem(&by_tid, &tid);
  exitCall(entered, CALL_NUMBER(regs), result);
  if (entered)
    bpf_map_delete_elem(&by_tid, &tid);
  return 0;
}

SEC("?raw_tp/sched_process_exit") int BPF_PROG(end_raw) {
  u32 tid = bpf_get_current_pid_tgid();
  struct Entered *entered = bpf_map_lookup_elem(&by_tid, &tid);
  if (entered && entered->is_open)
    endCall(entered, entered->number, 0, kNeverReturned);
  bpf_map_delete_elem(&by_tid, &tid);
  return 0;
}
#undef READ
