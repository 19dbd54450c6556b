// Imitates the copies and fills of CUDA's driver. Each form is a separate function.
#include "../common/machine.h"
#include "../common/refusal.h"

#include <cstddef>
#include <cstdint>
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
void *pointer(void *address) { return address; }
template <class Address, class Number> int write(Address to, Number number) {
  std::memcpy(pointer(to), &number, sizeof number);
  return 0;
}
template <class Address, class Number> int waited(Address from, Number number) {
  return std::memcmp(pointer(from), &number, sizeof number) == 0 ? 0 : kInvalid;
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
// In CUDA's structure, a reserved field follows the array's handle.
struct Array {
  void *handle;
#ifndef HIP
  void *reserved;
#endif
};
template <class Number> struct Copy3D {
  Number srcXInBytes, srcY, srcZ, srcLOD;
  int srcMemoryType;
  const void *srcHost;
  Device srcDevice;
  Array srcArray;
  Number srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD;
  int dstMemoryType;
  void *dstHost;
  Device dstDevice;
  Array dstArray;
  Number dstPitch, dstHeight, WidthInBytes, Height, Depth;
};

// The numbers of two memory types, which differ between CUDA and HIP.
struct MemoryTypes {
  int host, array;
};
#ifdef HIP
bool isBefore6() { return standin::fromEnvironment("STANDIN_VERSION", 60'000'000) < 60'000'000; }
MemoryTypes types() { return isBefore6() ? MemoryTypes{0, 2} : MemoryTypes{1, 10}; }
#else
MemoryTypes types() { return {1, 3}; }
#endif

const void *handleOf(const void *array) { return array; }
const void *handleOf(const Array &array) { return array.handle; }

// The source or the destination of a copy. The rows of an array follow each other directly.
struct End {
  End(int type, const void *host, Device device, const void *array, size_t given_pitch, size_t width)
      : begin(static_cast<char *>(const_cast<void *>(type == types().host    ? host
                                                     : type == types().array ? array
                                                                             : pointer(device)))),
        pitch(type == types().array ? width : given_pitch) {}
  char *begin;
  size_t pitch;
};
template <class Given> int copyGiven(const Given *copy, size_t rows) {
  const size_t width = copy->WidthInBytes;
  const End from(copy->srcMemoryType, copy->srcHost, copy->srcDevice, handleOf(copy->srcArray), copy->srcPitch, width);
  const End to(copy->dstMemoryType, copy->dstHost, copy->dstDevice, handleOf(copy->dstArray), copy->dstPitch, width);
  if (from.begin == nullptr || to.begin == nullptr)
    return kInvalid;
  for (size_t row = 0; row < rows; ++row)
    std::memmove(to.begin + row * to.pitch, from.begin + row * from.pitch, width);
  return 0;
}
int copyRows(const Copy2D *copy) { return copy != nullptr ? copyGiven(copy, copy->Height) : kInvalid; }
template <class Number> int copyVolume(const void *given) {
  const auto *copy = static_cast<const Copy3D<Number> *>(given);
  return copy != nullptr ? copyGiven(copy, size_t{copy->Height} * copy->Depth) : kInvalid;
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
int cuMemcpyHtoA_v2(char *to, size_t offset, const void *from, size_t bytes) { return copy(to + offset, from, bytes); }
int cuMemcpyHtoAAsync_v2(char *to, size_t offset, const void *from, size_t bytes, void *) {
  return copy(to + offset, from, bytes);
}
int cuMemcpyAtoH_v2(void *to, const char *from, size_t offset, size_t bytes) { return copy(to, from + offset, bytes); }
int cuMemcpyAtoHAsync_v2(void *to, const char *from, size_t offset, size_t bytes, void *) {
  return copy(to, from + offset, bytes);
}
int cuMemcpyDtoA_v2(char *to, size_t offset, Device from, size_t bytes) {
  return copy(to + offset, pointer(from), bytes);
}
int cuMemcpyAtoD_v2(Device to, const char *from, size_t offset, size_t bytes) {
  return copy(pointer(to), from + offset, bytes);
}
int cuMemcpyAtoA_v2(char *to, size_t to_offset, const char *from, size_t from_offset, size_t bytes) {
  return copy(to + to_offset, from + from_offset, bytes);
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
#ifdef HIP
int hipMemcpyParam2D(const Copy2D *copy) { return copyRows(copy); }
int hipMemcpyParam2DAsync(const Copy2D *copy, void *) { return copyRows(copy); }
int hipDrvMemcpy2DUnaligned(const Copy2D *copy) { return copyRows(copy); }
int hipDrvMemcpy3D(const void *copy) { return isBefore6() ? copyVolume<unsigned>(copy) : copyVolume<size_t>(copy); }
int hipDrvMemcpy3DAsync(const void *copy, void *) { return hipDrvMemcpy3D(copy); }
#else
int cuMemcpy(Device to, Device from, size_t bytes) { return copy(pointer(to), pointer(from), bytes); }
int cuMemcpyAsync(Device to, Device from, size_t bytes, void *) { return copy(pointer(to), pointer(from), bytes); }
int cuMemcpyPeer(Device to, void *, Device from, void *, size_t bytes) {
  return copy(pointer(to), pointer(from), bytes);
}
int cuMemcpyPeerAsync(Device to, void *, Device from, void *, size_t bytes, void *) {
  return copy(pointer(to), pointer(from), bytes);
}
int cuMemsetD2D8_v2(Device to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemsetD2D8Async(Device to, size_t pitch, unsigned char value, size_t width, size_t height, void *) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemsetD2D16_v2(Device to, size_t pitch, unsigned short value, size_t width, size_t height) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemsetD2D16Async(Device to, size_t pitch, unsigned short value, size_t width, size_t height, void *) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemsetD2D32_v2(Device to, size_t pitch, unsigned value, size_t width, size_t height) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemsetD2D32Async(Device to, size_t pitch, unsigned value, size_t width, size_t height, void *) {
  return fillRows(to, pitch, value, width, height);
}
int cuMemcpy2D_v2(const Copy2D *copy) { return copyRows(copy); }
int cuMemcpy2DUnaligned_v2(const Copy2D *copy) { return copyRows(copy); }
int cuMemcpy2DAsync_v2(const Copy2D *copy, void *) { return copyRows(copy); }
int cuMemcpy3D_v2(const void *copy) { return copyVolume<size_t>(copy); }
int cuMemcpy3DAsync_v2(const void *copy, void *) { return copyVolume<size_t>(copy); }
// A wait finds the number, since each write is done at once.
int cuStreamWriteValue32_v2(void *, Device to, unsigned value, unsigned) { return write(to, value); }
int cuStreamWaitValue32_v2(void *, Device from, unsigned value, unsigned) { return waited(from, value); }
int cuStreamWriteValue64_v2(void *, Device to, uint64_t value, unsigned) { return write(to, value); }
int cuStreamWaitValue64_v2(void *, Device from, uint64_t value, unsigned) { return waited(from, value); }
#endif
#ifdef HIP
int hipStreamWriteValue32(void *, void *to, uint32_t value, unsigned) { return write(to, value); }
int hipStreamWaitValue32(void *, void *from, uint32_t value, unsigned, uint32_t) { return waited(from, value); }
int hipStreamWriteValue64(void *, void *to, uint64_t value, unsigned) { return write(to, value); }
int hipStreamWaitValue64(void *, void *from, uint64_t value, unsigned, uint64_t) { return waited(from, value); }
#endif
}
