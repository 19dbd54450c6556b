// A loop that a device's optimiser may count by a multiplication. So it can run more often than 32 bits hold, in no
// time.
__kernel void spin(__global ulong *out, ulong rounds) {
  ulong sum = 0;
  for (ulong k = 0; k < rounds; ++k)
    sum += 3;
  out[get_global_id(0)] = sum;
}
