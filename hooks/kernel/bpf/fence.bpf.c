// Fences of drivers (dma_fence): emit, signal, wait, destroy. A fence is often signalled in an interrupt, so its owner is
// kept from the emit on.
#include "common.bpf.h"

struct dma_fence {
  u64 context, seqno;
} RELOCATED;

struct FenceKey {
  u64 context, sequence;
};

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 16384);
  __type(key, struct FenceKey);
  __type(value, struct ThreadIds);
} owners SEC(".maps");

struct Waiting {
  u64 begin_ns;
  struct FenceKey fence;
};
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, u32); // the kernel's own number of the thread
  __type(value, struct Waiting);
} waiting SEC(".maps");

static __always_inline struct FenceKey keyOf(struct dma_fence *fence) {
  struct FenceKey key = {BPF_CORE_READ(fence, context), BPF_CORE_READ(fence, seqno)};
  return key;
}

static __always_inline void tellFence(const struct FenceKey *fence, struct ThreadIds who, u64 begin_ns, u32 operation) {
  struct Counts *count = countsHere();
  struct FenceRecord *record = reserveRecord(sizeof *record, kFenceRecord);
  if (count)
    ++*(operation == kWaitBeginUnseen ? &count->unseen : record ? &count->delivered : &count->ring_full);
  if (!record)
    return;
  record->head.who = who;
  record->head.end_ns = bpf_ktime_get_ns();
  record->head.begin_ns = begin_ns ? begin_ns : record->head.end_ns;
  record->context = fence->context;
  record->sequence = fence->sequence;
  record->operation = operation;
  submitRecord(record, count ? count->delivered : 0);
}

static __always_inline void enterOne(void) {
  struct Counts *count = countsHere();
  if (count)
    ++count->entered;
}

static __always_inline void onEmit(struct dma_fence *fence) {
  if (!runsFollowed())
    return;
  struct FenceKey key = keyOf(fence);
  struct ThreadIds who = runningIds();
  bpf_map_update_elem(&owners, &key, &who, BPF_ANY);
  enterOne();
  tellFence(&key, who, 0, kEmitted);
}

static __always_inline void onEndOf(struct dma_fence *fence, u32 operation) {
  struct FenceKey key = keyOf(fence);
  struct ThreadIds *who = bpf_map_lookup_elem(&owners, &key);
  if (!who)
    return;
  enterOne();
  tellFence(&key, *who, 0, operation);
  if (operation == kDestroyed)
    bpf_map_delete_elem(&owners, &key);
}

static __always_inline void onWaitStart(struct dma_fence *fence) {
  if (!runsFollowed())
    return;
  struct Waiting wait = {bpf_ktime_get_ns(), keyOf(fence)};
  u32 tid = bpf_get_current_pid_tgid();
  enterOne();
  struct Counts *count = countsHere();
  if (bpf_map_update_elem(&waiting, &tid, &wait, BPF_ANY) && count)
    ++count->map_full;
}

static __always_inline void onWaitEnd(struct dma_fence *fence) {
  if (!runsFollowed())
    return;
  struct FenceKey key = keyOf(fence);
  u32 tid = bpf_get_current_pid_tgid();
  struct Waiting *wait = bpf_map_lookup_elem(&waiting, &tid);
  int is_same = wait && wait->fence.context == key.context && wait->fence.sequence == key.sequence;
  tellFence(&key, runningIds(), is_same ? wait->begin_ns : 0, is_same ? kWaited : kWaitBeginUnseen);
  if (is_same)
    bpf_map_delete_elem(&waiting, &tid);
}

SEC("?tp_btf/dma_fence_emit") int BPF_PROG(emit_btf, struct dma_fence *fence) {
  onEmit(fence);
  return 0;
}
SEC("?tp_btf/dma_fence_signaled") int BPF_PROG(signal_btf, struct dma_fence *fence) {
  onEndOf(fence, kSignalled);
  return 0;
}
SEC("?tp_btf/dma_fence_destroy") int BPF_PROG(destroy_btf, struct dma_fence *fence) {
  onEndOf(fence, kDestroyed);
  return 0;
}
SEC("?tp_btf/dma_fence_wait_start") int BPF_PROG(wait_start_btf, struct dma_fence *fence) {
  onWaitStart(fence);
  return 0;
}
SEC("?tp_btf/dma_fence_wait_end") int BPF_PROG(wait_end_btf, struct dma_fence *fence) {
  onWaitEnd(fence);
  return 0;
}

// Tests these functions on a machine where no driver makes fences. BPF_PROG_TEST_RUN calls this program with a step, a
// context and a sequence number. The program makes a fence in a map, with the kernel's own layout.
enum { kTestEmit, kTestSignal, kTestDestroy, kTestWaitStart, kTestWaitEnd };

struct FakeFence {
  u8 bytes[256];
};
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct FakeFence);
} fake SEC(".maps");

SEC("?raw_tp") int test_fence(u64 *arguments) {
  u32 first = 0;
  struct FakeFence *made = bpf_map_lookup_elem(&fake, &first);
  u64 context_at = bpf_core_field_offset(struct dma_fence, context),
      sequence_at = bpf_core_field_offset(struct dma_fence, seqno);
  if (!made || context_at > sizeof made->bytes - 8 || sequence_at > sizeof made->bytes - 8)
    return 1;
  *(u64 *)(made->bytes + context_at) = arguments[1];
  *(u64 *)(made->bytes + sequence_at) = arguments[2];
  struct dma_fence *fence = (struct dma_fence *)made;
  switch (arguments[0]) {
  case kTestEmit:
    onEmit(fence);
    return 0;
  case kTestSignal:
    onEndOf(fence, kSignalled);
    return 0;
  case kTestDestroy:
    onEndOf(fence, kDestroyed);
    return 0;
  case kTestWaitStart:
    onWaitStart(fence);
    return 0;
  default:
    onWaitEnd(fence);
    return 0;
  }
}
