// Follows the program through fork, exec and exit, and tells the names of its threads. The other objects only ask which
// processes are followed.
#include "common.bpf.h"

// The process whose children are followed from their exec on. msleaks-run sets it to 0 when the program runs.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, u32);
} root SEC(".maps");

static __always_inline int isRoot(void) {
  u32 first = 0, *pid = bpf_map_lookup_elem(&root, &first);
  return pid && *pid && runningIds().pid == *pid;
}

static __always_inline void tellTask(struct ThreadIds who, u32 parent, u64 now) {
  struct Counts *count = countsHere();
  if (count)
    ++count->entered;
  struct TaskRecord *record = reserveRecord(sizeof *record, kTaskRecord);
  if (!record) {
    if (count)
      ++count->ring_full;
    return;
  }
  record->head.who = who;
  record->head.begin_ns = record->head.end_ns = now;
  record->parent = parent;
  bpf_get_current_comm(record->name, sizeof record->name);
  if (count)
    ++count->delivered;
  submitRecord(record, count ? count->delivered : 0);
}

static __always_inline void onFork(u32 parent, u32 child) {
  if (parent == child)
    return; // a new thread
  u32 *known = bpf_map_lookup_elem(&followed, &parent);
  u32 state = known && *known == kFollowed ? kFollowed : kUntilExec;
  if (state == kUntilExec && !isRoot())
    return;
  if (!bpf_map_update_elem(&followed, &child, &state, BPF_ANY))
    return;
  struct Counts *count = countsHere();
  if (count) {
    ++count->entered;
    ++count->map_full;
  }
}

static __always_inline void onExec(void) {
  u32 tgid = bpf_get_current_pid_tgid() >> 32;
  u32 *known = bpf_map_lookup_elem(&followed, &tgid);
  if (!known)
    return;
  *known = kFollowed;
  tellTask(runningIds(), 0, bpf_ktime_get_ns());
}

static __always_inline void onExit(struct task_struct *task) {
  u32 tgid = bpf_get_current_pid_tgid() >> 32;
  u32 *known = bpf_map_lookup_elem(&followed, &tgid);
  if (!known)
    return;
  if (*known == kFollowed)
    tellTask(runningIds(), 0, bpf_ktime_get_ns()); // a thread often gets its name after its begin
  if (BPF_CORE_READ(task, signal, live.counter) <= 0)
    bpf_map_delete_elem(&followed, &tgid);
}

SEC("?tp_btf/sched_process_fork") int BPF_PROG(fork_btf, struct task_struct *parent, struct task_struct *child) {
  onFork(parent->tgid, child->tgid);
  return 0;
}
SEC("?tp_btf/sched_process_exec") int BPF_PROG(exec_btf) {
  onExec();
  return 0;
}
SEC("?tp_btf/sched_process_exit") int BPF_PROG(exit_btf, struct task_struct *task) {
  onExit(task);
  return 0;
}

SEC("?raw_tp/sched_process_fork") int BPF_PROG(fork_raw, struct task_struct *parent, struct task_struct *child) {
  onFork(BPF_CORE_READ(parent, tgid), BPF_CORE_READ(child, tgid));
  return 0;
}
SEC("?raw_tp/sched_process_exec") int BPF_PROG(exec_raw) {
  onExec();
  return 0;
}
SEC("?raw_tp/sched_process_exit") int BPF_PROG(exit_raw, struct task_struct *task) {
  onExit(task);
  return 0;
}
