// A kernel with a long loop. The optimiser can replace the loop's increments of a counter by
// one addition of a product. So a single addition can exceed 32 bits.
__kernel void spin(__global ulong *out, ulong rounds) {
  ulong sum = 0;
  for (ulong k = 0; k < rounds; ++k)
    sum += 3;
  out[get_global_id(0)] = sum;
}
