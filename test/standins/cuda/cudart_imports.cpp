// Imitates CUDA's runtime library with memory of another process or driver. It calls the driver for handles of another
// process. Other memory it allocates itself, and the driver does not know the size of this memory.
#include "cudart.cpp"

extern "C" {
int cuIpcOpenMemHandle_v2(unsigned long long *address, cudaIpcMemHandle_t handle, unsigned flags);
int cuIpcCloseMemHandle(unsigned long long address);
}

cudaError_t cudaIpcOpenMemHandle(void **block, cudaIpcMemHandle_t handle, unsigned flags) {
  unsigned long long address = 0;
  const int status = cuIpcOpenMemHandle_v2(&address, handle, flags);
  *block = reinterpret_cast<void *>(address);
  return said(status);
}
cudaError_t cudaIpcCloseMemHandle(void *block) {
  return said(cuIpcCloseMemHandle(reinterpret_cast<unsigned long long>(block)));
}
cudaError_t cudaMemPoolImportPointer(void **block, cudaMemPool_t, cudaMemPoolPtrExportData *) {
  return allocate(block, 4096);
}
cudaError_t cudaExternalMemoryGetMappedBuffer(void **block, cudaExternalMemory_t,
                                              const cudaExternalMemoryBufferDesc *what) {
  return allocate(block, what->size);
}
cudaError_t cudaExternalMemoryGetMappedMipmappedArray(cudaMipmappedArray_t *array, cudaExternalMemory_t,
                                                      const cudaExternalMemoryMipmappedArrayDesc *what) {
  return cudaMallocMipmappedArray(array, &what->formatDesc, what->extent, what->numLevels, what->flags);
}
