// The records that the programs in the kernel write into their rings, and the maps that they share with msleaks-run.
// C, because BPF programs include it. Each record begins with a RecordHead, is zeroed, and has a fixed size.
#ifndef MSLEAKS_KERNEL_RECORDS_H
#define MSLEAKS_KERNEL_RECORDS_H

enum { kRecordVersion = 1 };

enum RecordKind {
  kSyscallRecord = 1,
  kTaskRecord,
  kFaultRecord,
  kOffCpuRecord,
  kBlockIoRecord,
  kPciRecord,
  kFenceRecord,
};

// A process and a thread, in the pid namespace of msleaks-run if the thread is visible there.
struct ThreadIds {
  unsigned int pid, tid;
};

struct RecordHead {
  unsigned short version, kind;
  unsigned int cpu;
  struct ThreadIds who;
  unsigned long long begin_ns, end_ns; // CLOCK_MONOTONIC
};

enum SyscallStatus { kReturned = 0, kNeverReturned, kBeginUnseen };

struct SyscallRecord {
  struct RecordHead head;
  unsigned long long arguments[6];
  long long result;
  unsigned long long call;
  unsigned short number, status;
  unsigned int reserved;
};

struct TaskRecord {
  struct RecordHead head;
  char name[16];
  unsigned int parent, reserved;
};

struct FaultRecord {
  struct RecordHead head;
  unsigned long long address, instruction, access;
};

struct OffCpuRecord {
  struct RecordHead head;
  unsigned long long queue_ns;
  unsigned int next_tid, state;
  unsigned int waker, reserved;
};

struct BlockIoRecord {
  struct RecordHead head;
  unsigned long long sector, size;
  unsigned int disk, operation;
};

struct PciRecord {
  struct RecordHead head;
  unsigned long long value;
  unsigned int function, offset, size, operation;
};

enum FenceOperation { kEmitted = 0, kSignalled, kWaited, kDestroyed, kWaitBeginUnseen };

struct FenceRecord {
  struct RecordHead head;
  unsigned long long context, sequence;
  unsigned int operation, reserved;
};

// Each processor counts for itself.
struct Counts {
  unsigned long long entered, delivered, ring_full, map_full, unreturned;
  unsigned long long unseen; // ends without a begin: they are no part of `entered`
};

// The state of a followed process.
enum Following { kUntilExec = 1, kFollowed = 2 };

enum { kCallWords = 16 }; // 64 calls each

// The first and only constant of each object. It is set before the object is loaded.
struct Settings {
  unsigned long long namespace_device, namespace_inode; // inode 0: msleaks-run is in the first pid namespace
  unsigned long long wake_bytes;                        // number of waiting bytes that wakes the reader
  unsigned long long calls[kCallWords];                 // system calls to record, one bit each
  unsigned long long cpus;                              // how many there may be
};

#endif
