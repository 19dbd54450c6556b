// Every object has these parts: the followed processes, a ring, counts and settings.
#ifndef MSLEAKS_COMMON_BPF_H
#define MSLEAKS_COMMON_BPF_H

#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "../records.h"

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

char license_of_programs[] SEC("license") = "GPL"; // the kernel's tracing functions ask for it

const volatile struct Settings settings = {};

// By the kernel's own process number. All objects of a session share this map.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, u32);
  __type(value, u32);
} followed SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 24); // msleaks-run sets the size
} ring SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct Counts);
} counts SEC(".maps");

static __always_inline struct Counts *countsHere(void) {
  u32 first = 0;
  return bpf_map_lookup_elem(&counts, &first);
}

static __always_inline int isFollowed(u32 tgid) {
  u32 *state = bpf_map_lookup_elem(&followed, &tgid);
  return state && *state == kFollowed;
}

static __always_inline int runsFollowed(void) { return isFollowed(bpf_get_current_pid_tgid() >> 32); }

// The numbers of the running thread, as msleaks-run sees them.
static __always_inline struct ThreadIds runningIds(void) {
  u64 both = bpf_get_current_pid_tgid();
  struct ThreadIds ids = {both >> 32, (u32)both};
  if (settings.namespace_inode) {
    struct bpf_pidns_info seen = {};
    if (!bpf_get_ns_current_pid_tgid(settings.namespace_device, settings.namespace_inode, &seen, sizeof seen)) {
      ids.pid = seen.tgid;
      ids.tid = seen.pid;
    }
  }
  return ids;
}

// Reserves a zeroed record, or counts it as lost.
static __always_inline void *reserveRecord(u64 size, u16 kind) {
  struct RecordHead *head = bpf_ringbuf_reserve(&ring, size, 0);
  if (!head)
    return 0;
  __builtin_memset(head, 0, size);
  head->version = kRecordVersion;
  head->kind = kind;
  head->cpu = bpf_get_smp_processor_id();
  return head;
}

// Counts the record of something that has ended as delivered, or as lost if there is no record.
static __always_inline struct Counts *countEnd(const void *record) {
  struct Counts *count = countsHere();
  if (count)
    ++*(record ? &count->delivered : &count->ring_full);
  return count;
}

enum { kLookEvery = 64 };

// Wakes the reader only if much is waiting. Checks this at one of kLookEvery records, and the reader also reads from
// time to time. `number` counts the records of this processor.
static __always_inline void submitRecord(void *record, u64 number) {
  u64 flags = BPF_RB_NO_WAKEUP;
  if (number % kLookEvery == 0 && bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= settings.wake_bytes)
    flags = BPF_RB_FORCE_WAKEUP;
  bpf_ringbuf_submit(record, flags);
}

#endif
