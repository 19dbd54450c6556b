// Reads and writes of the configuration of PCI devices. Where the kernel allows no probes of functions, a call is known
// by its file: `config` of a device's folder in sysfs.
#include "common.bpf.h"

struct qstr {
  const unsigned char *name;
} RELOCATED;
struct super_block {
  unsigned long s_magic;
} RELOCATED;
struct inode {
  struct super_block *i_sb;
} RELOCATED;
struct dentry {
  struct qstr d_name;
  struct dentry *d_parent;
  struct inode *d_inode;
} RELOCATED;
struct path {
  struct dentry *dentry;
} RELOCATED;
struct file {
  struct path f_path;
  long long f_pos;
} RELOCATED;
struct fdtable {
  unsigned int max_fds;
  struct file **fd;
} RELOCATED;
struct files_struct {
  struct fdtable *fdt;
} RELOCATED;
struct task_struct___files {
  struct files_struct *files;
} RELOCATED;

#define SYSFS 0x62656572 // SYSFS_MAGIC

#if defined(__TARGET_ARCH_x86)
enum { kRead = 0, kWrite = 1, kReadAt = 17, kWriteAt = 18 };
#define ARGUMENT(regs, first, second, third, fourth)                                                                   \
  u64 first = (regs)->di, second = (regs)->si, third = (regs)->dx, fourth = (regs)->r10
#else
enum { kRead = 63, kWrite = 64, kReadAt = 67, kWriteAt = 68 };
#define ARGUMENT(regs, first, second, third, fourth)                                                                   \
  u64 first = (regs)->orig_x0, second = (regs)->regs[1], third = (regs)->regs[2], fourth = (regs)->regs[3]
#endif

struct Accessing {
  u64 begin_ns, buffer, value;
  u32 function, offset, size, is_write;
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct Accessing);
} accessing SEC(".maps");

static __always_inline struct file *fileOf(u64 descriptor) {
  struct task_struct___files *task = (void *)bpf_get_current_task_btf();
  struct fdtable *table = BPF_CORE_READ(task, files, fdt);
  if (descriptor >= BPF_CORE_READ(table, max_fds))
    return 0;
  struct file **list = BPF_CORE_READ(table, fd), *file = 0;
  bpf_probe_read_kernel(&file, sizeof file, list + descriptor);
  return file;
}

static __always_inline u32 hexadecimal(char digit) { return digit <= '9' ? digit - '0' : (digit | 32) - 'a' + 10; }

// "0000:00:03.0" -> domain, bus, device and function in one number, or -1.
static __always_inline int functionOf(const char *name) {
  if (name[4] != ':' || name[7] != ':' || name[10] != '.')
    return -1;
  u32 domain = hexadecimal(name[0]) << 12 | hexadecimal(name[1]) << 8 | hexadecimal(name[2]) << 4 | hexadecimal(name[3]);
  u32 bus = hexadecimal(name[5]) << 4 | hexadecimal(name[6]);
  u32 device = hexadecimal(name[8]) << 4 | hexadecimal(name[9]);
  return (int)(domain << 16 | bus << 8 | device << 3 | hexadecimal(name[11]));
}

// The device whose configuration the file is, or -1.
static __always_inline int deviceOf(struct file *file) {
  struct dentry *entry = BPF_CORE_READ(file, f_path.dentry);
  if (BPF_CORE_READ(entry, d_inode, i_sb, s_magic) != SYSFS)
    return -1;
  char name[16] = {};
  bpf_probe_read_kernel_str(name, sizeof name, BPF_CORE_READ(entry, d_name.name));
  if (__builtin_memcmp(name, "config", 7))
    return -1;
  bpf_probe_read_kernel_str(name, sizeof name, BPF_CORE_READ(entry, d_parent, d_name.name));
  return functionOf(name);
}

SEC("?tp_btf/sys_enter") int BPF_PROG(enter_btf, struct pt_regs *regs, long number) {
  int is_write = number == kWrite || number == kWriteAt;
  if (!is_write && number != kRead && number != kReadAt)
    return 0;
  if (!runsFollowed())
    return 0;
  ARGUMENT(regs, descriptor, buffer, size, position);
  struct file *file = fileOf(descriptor);
  int device = file ? deviceOf(file) : -1;
  struct Counts *count = device >= 0 ? countsHere() : 0;
  if (!count)
    return 0;
  ++count->entered;
  struct Accessing *access =
      bpf_task_storage_get(&accessing, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!access) {
    ++count->map_full;
    return 0;
  }
  access->begin_ns = bpf_ktime_get_ns();
  access->buffer = buffer;
  access->value = 0;
  access->function = device;
  access->offset = number == kReadAt || number == kWriteAt ? position : BPF_CORE_READ(file, f_pos);
  access->size = size;
  access->is_write = is_write;
  u64 bytes = size < 8 ? size & 7 : 8;
  if (is_write)
    bpf_probe_read_user(&access->value, bytes, (void *)buffer);
  return 0;
}

SEC("?tp_btf/sys_exit") int BPF_PROG(exit_btf, struct pt_regs *regs, long result) {
  struct Accessing *access = bpf_task_storage_get(&accessing, bpf_get_current_task_btf(), 0, 0);
  if (!access || !access->begin_ns)
    return 0;
  struct PciRecord *record = reserveRecord(sizeof *record, kPciRecord);
  struct Counts *count = countEnd(record);
  if (record) {
    record->head.who = runningIds();
    record->head.begin_ns = access->begin_ns;
    record->head.end_ns = bpf_ktime_get_ns();
    record->value = access->value;
    u64 bytes = result >= 8 ? 8 : result > 0 ? result & 7 : 0;
    if (!access->is_write)
      bpf_probe_read_user(&record->value, bytes, (void *)access->buffer);
    record->function = access->function;
    record->offset = access->offset;
    record->size = result >= 0 ? result : access->size;
    record->operation = (result < 0 ? 2 : 0) + access->is_write;
    submitRecord(record, count ? count->delivered : 0);
  }
  access->begin_ns = 0;
  return 0;
}

SEC("?tp_btf/sched_process_exit") int BPF_PROG(end_btf) {
  struct Accessing *access = bpf_task_storage_get(&accessing, bpf_get_current_task_btf(), 0, 0);
  struct Counts *count = countsHere();
  if (access && access->begin_ns && count)
    ++count->unreturned;
  return 0;
}
