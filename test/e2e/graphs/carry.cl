// A device's optimiser can replace the counting in this loop
// by a multiplication. So a count can exceed 32 bits at once.
__kernel void spin(__global ulong *out, ulong rounds) {
  ulong sum = 0;
  for (ulong k = 0; k < rounds; ++k)
    sum += 3;
  out[get_global_id(0)] = sum;
}
