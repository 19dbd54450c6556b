// Kernels of CUDA and HIP for modules_test.py, which computes the expected counts
// itself. The file declares the parts of an SDK that it needs, so it compiles without an SDK.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

#ifdef __HIP__
#define THREAD __builtin_amdgcn_workitem_id_x()
#define BLOCK __builtin_amdgcn_workgroup_id_x()
#define THREADS __builtin_amdgcn_workgroup_size_x()
#else
#define THREAD __nvvm_read_ptx_sreg_tid_x()
#define BLOCK __nvvm_read_ptx_sreg_ctaid_x()
#define THREADS __nvvm_read_ptx_sreg_ntid_x()
#endif

__attribute__((noinline)) __device__ unsigned steps(unsigned long value) {
  unsigned count = 0;
  while (value > 1) {
    value = value % 2 != 0 ? 3 * value + 1 : value / 2;
    ++count; // a step
  }
  return count;
}

__device__ unsigned seen; // number of launches of collatz

extern "C" __global__ void collatz(unsigned *out, unsigned char first, int size) {
  int i = BLOCK * THREADS + THREAD;
  if (i >= size)
    return;
  if (i == 0)
    ++seen;
  out[i] = steps(first + i); // in range
}

extern "C" __global__ void choose(unsigned *values, int size) {
  int i = BLOCK * THREADS + THREAD;
  if (i >= size)
    return;
  values[i] += seen;
  for (int k = 0; k < i % 7; ++k)
    switch ((i + k) % 6) {
    case 0:
      values[i] += 3;
      break;
    case 2:
    case 4:
      values[i] ^= k;
      break;
    default:
      values[i] = values[i] * 5 + 1;
    }
}
