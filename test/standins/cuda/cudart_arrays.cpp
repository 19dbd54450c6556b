// Imitates CUDA's copies from and to arrays and symbols. A program cannot see the layout of an array. A symbol is a
// variable of the program. With a default stream for each thread, a program calls functions with other names.
#include <cuda_runtime_api.h>

namespace {

// The address of an element of an array, and the length of the array's rows.
struct Place {
  Place(cudaArray_const_t array, size_t x, size_t y) {
    cudaChannelFormatDesc format;
    cudaExtent extent;
    if (cudaArrayGetInfo(&format, &extent, nullptr, const_cast<cudaArray_t>(array)) != cudaSuccess)
      return;
    pitch = extent.width * static_cast<size_t>(format.x + format.y + format.z + format.w) / 8;
    begin = reinterpret_cast<char *>(const_cast<cudaArray_t>(array)) + y * pitch + x;
  }
  char *begin = nullptr; // null: there is no such array
  size_t pitch = 0;
};

template <class Copy> cudaError_t withSymbol(const void *symbol, size_t offset, Copy copy) {
  if (symbol == nullptr)
    return cudaErrorInvalidSymbol;
  return copy(static_cast<char *>(const_cast<void *>(symbol)) + offset);
}

} // namespace

extern "C" {
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t count, cudaMemcpyKind kind) {
  return cudaMemcpy(Place(to, x, y).begin, from, count, kind);
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t count,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyAsync(Place(to, x, y).begin, from, count, kind, stream);
}
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t count,
                                cudaMemcpyKind kind) {
  return cudaMemcpy(to, Place(from, x, y).begin, count, kind);
}
cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y, size_t count,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyAsync(to, Place(from, x, y).begin, count, kind, stream);
}
cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                   size_t from_y, size_t count, cudaMemcpyKind kind) {
  return cudaMemcpy(Place(to, to_x, to_y).begin, Place(from, from_x, from_y).begin, count, kind);
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  const Place place(to, x, y);
  return cudaMemcpy2D(place.begin, place.pitch, from, pitch, width, height, kind);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  const Place place(to, x, y);
  return cudaMemcpy2DAsync(place.begin, place.pitch, from, pitch, width, height, kind, stream);
}
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind) {
  const Place place(from, x, y);
  return cudaMemcpy2D(to, pitch, place.begin, place.pitch, width, height, kind);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                       size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  const Place place(from, x, y);
  return cudaMemcpy2DAsync(to, pitch, place.begin, place.pitch, width, height, kind, stream);
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                     size_t from_y, size_t width, size_t height, cudaMemcpyKind kind) {
  const Place there(to, to_x, to_y), here(from, from_x, from_y);
  return cudaMemcpy2D(there.begin, there.pitch, here.begin, here.pitch, width, height, kind);
}
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t count, size_t offset, cudaMemcpyKind kind) {
  return withSymbol(symbol, offset, [&](void *to) { return cudaMemcpy(to, from, count, kind); });
}
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t count, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return withSymbol(symbol, offset, [&](void *to) { return cudaMemcpyAsync(to, from, count, kind, stream); });
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t count, size_t offset, cudaMemcpyKind kind) {
  return withSymbol(symbol, offset, [&](const void *from) { return cudaMemcpy(to, from, count, kind); });
}
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t count, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return withSymbol(symbol, offset, [&](const void *from) { return cudaMemcpyAsync(to, from, count, kind, stream); });
}
}
