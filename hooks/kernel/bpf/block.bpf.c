// Requests to block devices. The owner of a request is the thread that has made its first bio. The issue and the
// completion often run in another thread, or in an interrupt.
#include "common.bpf.h"

struct block_device {
  unsigned int bd_dev;
} RELOCATED;
struct bio {
  int unused;
} RELOCATED;
struct request {
  unsigned int cmd_flags, __data_len;
  unsigned long long __sector;
  struct bio *bio;
  struct block_device *part;
} RELOCATED;

#define OPERATION 0xff // REQ_OP_MASK of the kernel

struct Issued {
  u64 begin_ns, sector, size;
  struct ThreadIds who;
  u32 disk, operation;
};

// A bio may become a part of another request, or none: then its entry is replaced some time.
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 16384);
  __type(key, u64);
  __type(value, struct ThreadIds);
} owners SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, u64);
  __type(value, struct Issued);
} issued SEC(".maps");

SEC("?tp_btf/block_bio_queue") int BPF_PROG(queue_btf, struct bio *bio) {
  if (!runsFollowed())
    return 0;
  struct ThreadIds who = runningIds();
  u64 key = (u64)bio;
  bpf_map_update_elem(&owners, &key, &who, BPF_ANY);
  return 0;
}

SEC("?tp_btf/block_rq_issue") int BPF_PROG(issue_btf, struct request *request) {
  u64 bio = (u64)request->bio, key = (u64)request;
  struct ThreadIds *who = bpf_map_lookup_elem(&owners, &bio);
  struct Counts *count = countsHere();
  if (!who || !count)
    return 0;
  ++count->entered;
  struct Issued begun = {bpf_ktime_get_ns(), request->__sector, request->__data_len, *who, 0, request->cmd_flags & OPERATION};
  begun.disk = BPF_CORE_READ(request, part, bd_dev);
  if (bpf_map_update_elem(&issued, &key, &begun, BPF_ANY))
    ++count->map_full;
  bpf_map_delete_elem(&owners, &bio);
  return 0;
}

SEC("?tp_btf/block_rq_complete") int BPF_PROG(complete_btf, struct request *request) {
  u64 key = (u64)request;
  struct Issued *begun = bpf_map_lookup_elem(&issued, &key);
  if (!begun)
    return 0;
  struct BlockIoRecord *record = reserveRecord(sizeof *record, kBlockIoRecord);
  struct Counts *count = countEnd(record);
  if (record) {
    record->head.who = begun->who;
    record->head.begin_ns = begun->begin_ns;
    record->head.end_ns = bpf_ktime_get_ns();
    record->sector = begun->sector;
    record->size = begun->size;
    record->disk = begun->disk;
    record->operation = begun->operation;
    submitRecord(record, count ? count->delivered : 0);
  }
  bpf_map_delete_elem(&issued, &key);
  return 0;
}
