// Four ordinary kernels: a product of matrices, a loop whose length differs by thread, a sum of vectors, and a
// reduction with barriers. bench/kernel_cost.py measures the cost of counting their edges.

__kernel void matmul(__global float *c, __global const float *a, __global const float *b, int n) {
  int row = get_global_id(1), column = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < n; ++k)
    sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

__kernel void collatz(__global int *out) {
  int value = get_global_id(0) + 1, steps = 0;
  while (value > 1) {
    value = value % 2 ? 3 * value + 1 : value / 2;
    ++steps;
  }
  out[get_global_id(0)] = steps;
}

__kernel void saxpy(__global float *y, __global const float *x, float a, int n) {
  int i = get_global_id(0);
  if (i < n)
    y[i] += a * x[i];
}

__kernel void reduce(__global const int *in, __global int *out, __local int *part) {
  int me = get_local_id(0);
  part[me] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = get_local_size(0) / 2; k > 0; k /= 2) {
    if (me < k)
      part[me] += part[me + k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (me == 0)
    out[get_group_id(0)] = part[0];
}
