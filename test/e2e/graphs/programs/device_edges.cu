// A kernel whose threads diverge at a switch. The edges to the cases have counters and are not in a loop.
#define __global__ __attribute__((global))
#ifdef __HIP__
#define ME __builtin_amdgcn_workitem_id_x()
#else
#define ME __nvvm_read_ptx_sreg_tid_x()
#endif

extern "C" __global__ void edges(int *out, const int *in) {
  int me = ME;
  switch (in[me]) {
  case 0:
    out[me * 3] = 7;
    break;
  case 1:
    out[me] += me;
    out[0] = 1;
    break;
  case 2:
    out[me + 4] ^= 5;
    break;
  default:
    out[me + 9] = out[me] * 3;
  }
}
