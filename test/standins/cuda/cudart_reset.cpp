// Imitates CUDA's runtime library with the reset of the current device. It ends all blocks of the device. The locked
// memory of the host belongs to the first device.
#include "cudart.cpp"

cudaError_t cudaDeviceReset() {
  STANDIN_MAY_REFUSE(said);
  machine().device(static_cast<unsigned>(current)).releaseAll();
  if (current == 0)
    machine().pinned().releaseAll();
  return said(cudaSuccess);
}
