// The processor: one record when a thread runs again. It has the time since the thread stopped, and the part of it in the
// run queue. It also names the thread that ran instead.
#include "common.bpf.h"

#define DEAD 0x80 // TASK_DEAD of the kernel

struct Stopped {
  u64 since_ns, runnable_ns; // 0 = it runs; 0 = it sleeps
  struct ThreadIds who;
  u32 state, waker;
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct Stopped);
} stopped SEC(".maps");

#define RUNS 8 // a power of two

// The last threads that ran on a processor, and how long.
struct Run {
  u64 end_ns, duration_ns;
  u32 pid, tid;
};
struct Runs {
  u64 since_ns;
  u32 next, reserved;
  struct Run last[RUNS];
};
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct Runs);
} runs SEC(".maps");

static __always_inline struct Runs *noteRun(struct task_struct *task, u64 now) {
  u32 first = 0;
  struct Runs *here = bpf_map_lookup_elem(&runs, &first);
  if (!here)
    return 0;
  struct Run *run = &here->last[here->next++ & (RUNS - 1)];
  run->end_ns = now;
  run->duration_ns = now - here->since_ns;
  run->pid = task->tgid;
  run->tid = task->pid;
  here->since_ns = now;
  return here;
}

// The longest run that has ended since then, or null.
static __always_inline struct Run *longestSince(struct Runs *here, u64 since) {
  struct Run *longest = 0;
  for (int i = 0; i < RUNS; ++i) {
    struct Run *run = &here->last[i];
    if (run->tid && run->end_ns > since && (!longest || run->duration_ns > longest->duration_ns))
      longest = run;
  }
  return longest;
}

// Threads whose name is in the ring already.
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 4096);
  __type(key, u32);
  __type(value, u32);
} named SEC(".maps");

static __always_inline void nameThread(struct task_struct *task, u64 now) {
  u32 tid = task->pid, pid = task->tgid;
  if (tid == 0 || bpf_map_lookup_elem(&named, &tid))
    return;
  struct TaskRecord *record = reserveRecord(sizeof *record, kTaskRecord);
  if (!record)
    return;
  record->head.who.pid = pid;
  record->head.who.tid = tid;
  record->head.begin_ns = record->head.end_ns = now;
  bpf_probe_read_kernel_str(record->name, sizeof record->name, task->comm);
  submitRecord(record, 1); // names alone do not fill a ring
  bpf_map_update_elem(&named, &tid, &pid, BPF_ANY);
}

static __always_inline void stop(struct task_struct *task, u32 state, u64 now) {
  if (state & DEAD || !isFollowed(task->tgid))
    return;
  struct Counts *count = countsHere();
  if (!count)
    return;
  ++count->entered;
  struct Stopped *thread = bpf_task_storage_get(&stopped, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!thread) {
    ++count->map_full;
    return;
  }
  thread->since_ns = now;
  thread->runnable_ns = state == 0 ? now : 0;
  thread->who = runningIds();
  thread->state = state;
  thread->waker = 0;
}

// `before`: the thread that ran until now, whose name may not be known yet.
static __always_inline void goOn(struct task_struct *task, struct task_struct *before, struct Runs *here, u64 now) {
  struct Stopped *thread = bpf_task_storage_get(&stopped, task, 0, 0);
  if (!thread || !thread->since_ns)
    return;
  nameThread(before, now);
  struct Run *instead = here ? longestSince(here, thread->since_ns) : 0;
  struct OffCpuRecord *record = reserveRecord(sizeof *record, kOffCpuRecord);
  struct Counts *count = countEnd(record);
  if (record) {
    record->head.who = thread->who;
    record->head.begin_ns = thread->since_ns;
    record->head.end_ns = now;
    record->queue_ns = thread->runnable_ns ? now - thread->runnable_ns : 0;
    record->state = thread->state;
    record->next_tid = instead ? instead->tid : 0;
    record->waker = thread->waker;
    submitRecord(record, count ? count->delivered : 0);
  }
  thread->since_ns = 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(switch_btf, _Bool preempted, struct task_struct *task, struct task_struct *next) {
  u64 now = bpf_ktime_get_ns();
  struct Runs *here = noteRun(task, now);
  goOn(next, task, here, now);
  stop(task, preempted ? 0 : task->__state, now);
  if (isFollowed(task->tgid))
    nameThread(next, now);
  return 0;
}

SEC("?tp_btf/sched_waking") int BPF_PROG(waking_btf, struct task_struct *task) {
  struct Stopped *thread = bpf_task_storage_get(&stopped, task, 0, 0);
  if (!thread || !thread->since_ns || thread->runnable_ns)
    return 0;
  thread->runnable_ns = bpf_ktime_get_ns();
  thread->waker = (u32)bpf_get_current_pid_tgid();
  return 0;
}
