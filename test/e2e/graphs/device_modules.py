"""Makes a host library from LLVM IR that clang compiled for a device. The stand-ins of CUDA's and HIP's driver load this library as a
module, so the device's code runs on the host. Features that only a device has are replaced: address spaces, and registers with a
thread's position."""
import re

from msleaks_e2e import check, need, run

# C code that is added to the library. It stores the position of the current thread, and runs a kernel once for each thread.
PLACE = """
typedef unsigned long long u64;
static _Thread_local unsigned tid[3], ctaid[3], ntid[3], nctaid[3];
#define EACH(name) unsigned standin_##name##_x(void) { return name[0]; } unsigned standin_##name##_y(void) { return name[1]; } unsigned standin_##name##_z(void) { return name[2]; }
EACH(tid) EACH(ctaid) EACH(ntid) EACH(nctaid)
static _Thread_local struct { unsigned short header, setup, block[3], reserved; unsigned threads[3]; } packet; /* of HSA */
static _Thread_local struct { unsigned blocks[3]; unsigned short block[3]; } implicit; /* AMD's, behind the arguments */
void *standin_dispatch(void) { return &packet; }
void *standin_implicitarg(void) { return &implicit; }
static int exists(const unsigned *threads) {
  for (int i = 0; i < 3; ++i)
    if (ctaid[i] * ntid[i] + tid[i] >= threads[i])
      return 0;
  return 1;
}
void standin_run(void *code, const u64 *a, unsigned count, const unsigned *threads, const unsigned *block) {
  unsigned grid[3];
  u64 w[8] = {0};
  for (unsigned i = 0; i < count && i < 8; ++i)
    w[i] = a[i];
  for (int i = 0; i < 3; ++i) {
    grid[i] = nctaid[i] = implicit.blocks[i] = (threads[i] + block[i] - 1) / block[i];
    ntid[i] = packet.block[i] = implicit.block[i] = block[i];
    packet.threads[i] = threads[i];
  }
  for (ctaid[2] = 0; ctaid[2] < grid[2]; ++ctaid[2])
    for (ctaid[1] = 0; ctaid[1] < grid[1]; ++ctaid[1])
      for (ctaid[0] = 0; ctaid[0] < grid[0]; ++ctaid[0])
        for (tid[2] = 0; tid[2] < block[2]; ++tid[2])
          for (tid[1] = 0; tid[1] < block[1]; ++tid[1])
            for (tid[0] = 0; tid[0] < block[0]; ++tid[0])
              if (exists(threads))
                ((void (*)(u64, u64, u64, u64, u64, u64, u64, u64))code)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]);
}
"""
WORDS = (
    (r'target datalayout = .*\n', ''),
    (r'target triple = .*', 'target triple = "x86_64-pc-linux-gnu"'),
    (r'^attributes (#\d+) = .*', r'attributes \1 = { nounwind }'),
    (r'\b(ptx_kernel|amdgpu_kernel) ', ''),
    (r'syncscope\("\w+"\) ', ''),
    (r'\baddrspacecast\b', 'bitcast'),
    (r' addrspace\(\d+\)', ''),
    (r'@llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.([xyz])', r'@standin_\1_\2'),
    (r'@llvm\.amdgcn\.workitem\.id\.([xyz])', r'@standin_tid_\1'),
    (r'@llvm\.amdgcn\.workgroup\.id\.([xyz])', r'@standin_ctaid_\1'),
    (r'@llvm\.amdgcn\.(dispatch|implicitarg)\.ptr', r'@standin_\1'),
)
BYTES = {"ptr": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8}


def kernels_of(text):
    """Returns the names and parameters of the kernels. Kernels have a calling convention of their own. Before LLVM 20, a module for
    CUDA has a list of kernels instead."""
    listed = set(re.findall(r'!\{ptr @(\w+), !"kernel", i32 1\}', text))
    functions = re.findall(r'^define (.*)void @(\w+)\((.*)\)', text, re.MULTILINE)
    return [(name, parameters) for words, name, parameters in functions
            if name in listed or re.search(r"\b(ptx|amdgpu)_kernel\b", words)]


def make_module(code, output, llvm="22"):
    """Makes the library `output` from `code`, a file with the device's LLVM IR. `llvm` is the version of the IR."""
    text = code.read_text()
    kernels = kernels_of(text)
    check(kernels, f"{code}: no kernel")
    for pattern, ours in WORDS:
        text = re.sub(pattern, ours, text, flags=re.MULTILINE)
    place = PLACE
    for name, parameters in kernels:
        kinds = [parameter.split()[0] for parameter in re.sub(r"\([^()]*(\([^()]*\))?[^()]*\)", "", parameters).split(",")]
        sizes = ", ".join(str(BYTES[kind]) for kind in kinds)
        place += f"const unsigned {name}_parameters[] = {{{len(kinds)}, {sizes}}};\n"
    host, helper = code.with_suffix(".host.ll"), code.with_suffix(".place.c")
    host.write_text(text)
    helper.write_text(place)
    done = run([need(f"clang-{llvm}"), "-w", "-O1", "-fPIC", "-shared", host, helper, "-o", output])
    check(done.returncode == 0, f"{host}: {done.stderr}")
    return output
