// Stands in for CUDA's driver, as far as it copies and fills. Each form is a function of its own.
#include "../common/refusal.h"

#include <cstddef>
#include <cstring>

namespace {

using Device = unsigned long long;
constexpr int kInvalid = 1;

void *pointer(Device address) { return reinterpret_cast<void *>(address); }

int copy(void *to, const void *from, size_t bytes) {
  if (to == nullptr || from == nullptr)
    return kInvalid;
  std::memmove(to, from, bytes);
  return 0;
}
template <class Number> int fill(Device to, Number number, size_t count) {
  if (to == 0)
    return kInvalid;
  for (size_t i = 0; i < count; ++i)
    static_cast<Number *>(pointer(to))[i] = number;
  return 0;
}
template <class Number> int fillRows(Device to, size_t pitch, Number number, size_t width, size_t height) {
  int status = 0;
  for (size_t row = 0; row < height; ++row)
    status = fill(to + row * pitch, number, width);
  return status;
}

struct Copy2D {
  size_t srcXInBytes, srcY;
  int srcMemoryType;
  const void *srcHost;
  Device srcDevice;
  void *srcArray;
  size_t srcPitch, dstXInBytes, dstY;
  int dstMemoryType;
  void *dstHost;
  Device dstDevice;
  void *dstArray;
  size_t dstPitch, WidthInBytes, Height;
};
struct Copy3D {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  int srcMemoryType;
  const void *srcHost;
  Device srcDevice;
  void *srcArray, *reserved0;
  size_t srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD;
  int dstMemoryType;
  void *dstHost;
  Device dstDevice;
  void *dstArray, *reserved1;
  size_t dstPitch, dstHeight, WidthInBytes, Height, Depth;
};

constexpr int kHost = 1;
int copyRows(const char *from, size_t from_pitch, char *to, size_t to_pitch, size_t width, size_t rows) {
  for (size_t row = 0; row < rows; ++row)
    std::memmove(to + row * to_pitch, from + row * from_pitch, width);
  return 0;
}
template <class Given> int copyGiven(const Given *copy, size_t rows) {
  const void *const from = copy->srcMemoryType == kHost ? copy->srcHost : pointer(copy->srcDevice);
  void *const to = copy->dstMemoryType == kHost ? copy->dstHost : pointer(copy->dstDevice);
  if (from == nullptr || to == nullptr)
    return kInvalid;
  return copyRows(static_cast<const char *>(from), copy->srcPitch, static_cast<char *>(to), copy->dstPitch,
                  copy->WidthInBytes, rows);
}

} // namespace

extern "C" {
int cuMemcpyHtoD_v2(Device to, const void *from, size_t bytes) {
  STANDIN_MAY_REFUSE();
  return copy(pointer(to), from, bytes);
}
int cuMemcpyHtoDAsync_v2(Device to, const void *from, size_t bytes, void *) {
  STANDIN_MAY_REFUSE();
  return copy(pointer(to), from, bytes);
}
int cuMemcpyDtoH_v2(void *to, Device from, size_t bytes) { return copy(to, pointer(from), bytes); }
int cuMemcpyDtoHAsync_v2(void *to, Device from, size_t bytes, void *) { return copy(to, pointer(from), bytes); }
int cuMemcpyDtoD_v2(Device to, Device from, size_t bytes) { return copy(pointer(to), pointer(from), bytes); }
int cuMemcpyDtoDAsync_v2(Device to, Device from, size_t bytes, void *) {
  return copy(pointer(to), pointer(from), bytes);
}
int cuMemsetD8_v2(Device to, unsigned char value, size_t count) {
  STANDIN_MAY_REFUSE();
  return fill(to, value, count);
}
int cuMemsetD8Async(Device to, unsigned char value, size_t count, void *) { return fill(to, value, count); }
int cuMemsetD16_v2(Device to, unsigned short value, size_t count) { return fill(to, value, count); }
int cuMemsetD16Async(Device to, unsigned short value, size_t count, void *) { return fill(to, value, count); }
int cuMemsetD32_v2(Device to, unsigned value, size_t count) { return fill(to, value, count); }
int cuMemsetD32Async(Device to, unsigned value, size_t count, void *) { return fill(to, value, count); }
#ifndef HIP
int cuMemcpyHtoD_v2_ptds(Device to, const void *from, size_t bytes) { return copy(pointer(to), from, bytes); }
int cuMemcpyHtoDAsync_v2_ptsz(Device to, const void *from, size_t bytes, void *) {
  return copy(pointer(to), from, bytes);
}
int cuMemcpyDtoH_v2_ptds(void *to, Device from, size_t bytes) { return copy(to, pointer(from), bytes); }
int cuMemcpyDtoHAsync_v2_ptsz(void *to, Device from, size_t bytes, void *) { return copy(to, pointer(from), bytes); }
int cuMemcpyDtoD_v2_ptds(Device to, Device from, size_t bytes) { return copy(pointer(to), pointer(from), bytes); }
int cuMemcpyDtoDAsync_v2_ptsz(Device to, Device from, size_t bytes, void *) {
  return copy(pointer(to), pointer(from), bytes);
}
int cuMemcpy(Device to, Device from, size_t bytes) { return copy(pointer(to), pointer(from), bytes); }
int cuMemcpy_ptds(Device to, Device from, size_t bytes) { return copy(pointer(to), pointer(from), bytes); }
int cuMemcpyAsync(Device to, Device from, size_t bytes, void *) { return copy(pointer(to), pointer(from), bytes); }
int cuMemcpyAsync_ptsz(Device to, Device from, size_t bytes, void *) { return copy(pointer(to), pointer(from), bytes); }
int cuMemcpyPeer(Device to, void *, Device from, void *, size_t bytes) {
  return copy(pointer(to), pointer(from), bytes);
}
int cuMemcpyPeer_ptds(Device to, void *, Device from, void *, size_t bytes) {
  return copy(pointer(to), pointer(from), bytes);
}
int cuMemcpyPeerAsync(Device to, void *, Device from, void *, size_t bytes, void *) {
  return copy(pointer(to), pointer(from), bytes);
}
int cuMemcpyPeerAsync_ptsz(Device to, void *, Device from, void *, size_t bytes, void *) {
  return copy(pointer(to), pointer(from), bytes);
}
int cuMemsetD8_v2_ptds(Device to, unsigned char value, size_t count) { return fill(to, value, count); }
int cuMemsetD8Async_ptsz(Device to, unsigned char value, size_t count, void *) { return fill(to, value, count); }
int cuMemsetD16_v2_ptds(Device to, unsigned short value, size_t count) { return fill(to, value, count); }
int cuMemsetD16Async_ptsz(Device to, unsigned short value, size_t count, void *) { return fill(to, value, count); }
int cuMemsetD32_v2_ptds(Device to, unsigned value, size_t count) { return fill(to, value, count); }
int cuMemsetD32Async_ptsz(Device to, unsigned value, size_t count, void *) { return fill(to, value, count); }
int cuMemsetD2D8_v2(Device to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemsetD2D8_v2_ptds(Device to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemsetD2D8Async(Device to, size_t pitch, unsigned char value, size_t width, size_t height, void *) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemsetD2D8Async_ptsz(Device to, size_t pitch, unsigned char value, size_t width, size_t height, void *) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemsetD2D16_v2(Device to, size_t pitch, unsigned short value, size_t width, size_t height) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemsetD2D16_v2_ptds(Device to, size_t pitch, unsigned short value, size_t width, size_t height) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemsetD2D16Async(Device to, size_t pitch, unsigned short value, size_t width, size_t height, void *) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemsetD2D16Async_ptsz(Device to, size_t pitch, unsigned short value, size_t width, size_t height, void *) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemsetD2D32_v2(Device to, size_t pitch, unsigned value, size_t width, size_t height) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemsetD2D32_v2_ptds(Device to, size_t pitch, unsigned value, size_t width, size_t height) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemsetD2D32Async(Device to, size_t pitch, unsigned value, size_t width, size_t height, void *) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemsetD2D32Async_ptsz(Device to, size_t pitch, unsigned value, size_t width, size_t height, void *) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemcpy2D_v2(const Copy2D *copy) { return copyGiven(copy, copy->Height); }
int cuMemcpy2D_v2_ptds(const Copy2D *copy) { return copyGiven(copy, copy->Height); }
int cuMemcpy2DUnaligned_v2(const Copy2D *copy) { return copyGiven(copy, copy->Height); }
int cuMemcpy2DUnaligned_v2_ptds(const Copy2D *copy) { return copyGiven(copy, copy->Height); }
int cuMemcpy2DAsync_v2(const Copy2D *copy, void *) { return copyGiven(copy, copy->Height); }
int cuMemcpy2DAsync_v2_ptsz(const Copy2D *copy, void *) { return copyGiven(copy, copy->Height); }
int cuMemcpy3D_v2(const Copy3D *copy) { return copyGiven(copy, copy->Height * copy->Depth); }
int cuMemcpy3D_v2_ptds(const Copy3D *copy) { return copyGiven(copy, copy->Height * copy->Depth); }
int cuMemcpy3DAsync_v2(const Copy3D *copy, void *) { return copyGiven(copy, copy->Height * copy->Depth); }
int cuMemcpy3DAsync_v2_ptsz(const Copy3D *copy, void *) { return copyGiven(copy, copy->Height * copy->Depth); }
#endif
}
