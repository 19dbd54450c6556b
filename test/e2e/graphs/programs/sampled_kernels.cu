// Kernels of CUDA and HIP for samples_test.py. Threads with higher numbers do more work, so the counts show
// which threads counted. The file declares the parts of an SDK that it needs.
#define __global__ __attribute__((global))

#ifdef __HIP__
#define THREAD(d) __builtin_amdgcn_workitem_id_##d()
#define BLOCK(d) __builtin_amdgcn_workgroup_id_##d()
#define THREADS(d) __builtin_amdgcn_workgroup_size_##d()
#else
#define THREAD(d) __nvvm_read_ptx_sreg_tid_##d()
#define BLOCK(d) __nvvm_read_ptx_sreg_ctaid_##d()
#define THREADS(d) __nvvm_read_ptx_sreg_ntid_##d()
#endif
#define AT(d) (BLOCK(d) * THREADS(d) + THREAD(d))

extern "C" __global__ void rounds(unsigned *out, const unsigned *table, unsigned width, unsigned height, unsigned depth) {
  const unsigned x = AT(x), y = AT(y), z = AT(z);
  if (x >= width || y >= height || z >= depth)
    return;
  const unsigned i = (z * height + y) * width + x;
  unsigned value = i;
  for (unsigned k = 0; k <= i / 16; ++k)
    value = value * 5 + table[4 + k % 8]; // a round
  out[i] = value;
}

extern "C" __global__ void never(unsigned *out) {
  if (out[AT(x)] != 0)
    out[AT(x)] = 1;
}
