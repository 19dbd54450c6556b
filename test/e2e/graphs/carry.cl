// A loop that optimisers of the device may count by a multiplication: so it runs more often than 32 bits can say, in no time.
__kernel void spin(__global ulong *out, ulong rounds) {
  ulong sum = 0;
  for (ulong k = 0; k < rounds; ++k)
    sum += 3;
  out[get_global_id(0)] = sum;
}
