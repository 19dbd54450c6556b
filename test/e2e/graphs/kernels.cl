// Kernels for opencl_test.py. kernels_host.cpp launches them, and the test computes the expected counts itself.

__kernel void saxpy(__global float *y, __global const float *x, float a, int n) {
  int i = get_global_id(0);
  if (i < n)
    y[i] += a * x[i];
}

// Uses barriers, and local memory of two kinds: an argument that the host passes, and a variable of the kernel.
__kernel void sum(__global const int *in, __global int *out, __local int *part) {
  __local int first;
  int me = get_local_id(0);
  if (me == 0)
    first = in[get_global_id(0)];
  part[me] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = get_local_size(0) / 2; k > 0; k /= 2) {
    if (me < k)
      part[me] += part[me + k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (me == 0)
    out[get_group_id(0)] = part[0] + first;
}

// Has a switch in a loop, after an early return. Two cases of the switch share one target.
__kernel void choose(__global int *out, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  int value = 0;
  for (int k = 0; k < i % 7; ++k) {
    switch ((i + k) % 6) {
    case 0:
      value += out[i] * 3;
      break;
    case 1:
      value ^= i;
      break;
    case 2:
    case 4:
      out[i] = value;
      value -= k;
      break;
    default:
      value += 1;
    }
  }
  out[i] = value;
}

// This function is not inlined. It has a graph of its own, whose counts have the scale of the kernel that calls it.
__attribute__((noinline)) int steps(int value) {
  int count = 0;
  while (value > 1) {
    value = value % 2 ? 3 * value + 1 : value / 2;
    ++count;
  }
  return count;
}

__kernel void collatz(__global int *out, int width) {
  int i = get_global_id(1) * width + get_global_id(0);
  out[i] = steps(i + 1);
}

// Has a barrier in a loop. All threads make the same number of rounds, but the compiler cannot prove this.
__kernel void rounds(__global int *out, int n) {
  __local int part[64];
  part[get_local_id(0)] = out[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    if (part[(k + get_local_id(0)) & 63] >= 0)
      sum += 3;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = sum;
}
