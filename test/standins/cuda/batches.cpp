// Imitates CUDA's functions that make several copies in one call, and copies of volumes between devices. They are those
// of the driver, or with -DRUNTIME those of the runtime library. With -DVERSION=13 the runtime library has the
// prototypes of CUDA 13. With -DHIP there are only the functions that HIP also has.
#include <cstddef>
#include <cstring>

namespace {

constexpr int kInvalid = 1, kArray = 2;

struct Operand {
  int type;
  union {
    struct {
      char *at;
      size_t row, layer;
      int location[2];
    } pointer;
    struct {
      char *at;
      size_t offset[3];
    } array;
  };
  char *begin() const { return type == kArray ? array.at : pointer.at; }
};
struct Volume {
  Operand from, to;
  size_t width, height, depth;
  int order;
  unsigned flags;
};

int copyLists(char **to, char **from, const size_t *bytes, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (bytes[i] == 0)
      return kInvalid;
  for (size_t i = 0; i < count; ++i)
    std::memmove(to[i], from[i], bytes[i]);
  return 0;
}
// In the stand-in, a volume has no space between its rows. The elements of an array have four bytes.
int copyVolumes(size_t count, const Volume *copies) {
  for (size_t i = 0; i < count; ++i) {
    const size_t unit = copies[i].to.type == kArray || copies[i].from.type == kArray ? 4 : 1;
    std::memmove(copies[i].to.begin(), copies[i].from.begin(),
                 copies[i].width * copies[i].height * copies[i].depth * unit);
  }
  return 0;
}

struct Position {
  size_t x, y, z;
};
struct Pitched {
  char *at;
  size_t pitch, width, height;
};
struct PeerOfRuntime {
  void *from_array;
  Position from_position;
  Pitched from;
  int from_device;
  void *to_array;
  Position to_position;
  Pitched to;
  int to_device;
  Position extent;
};
struct PeerOfDriver {
  size_t from_x, from_y, from_z, from_level;
  int from_type;
  const void *from_host;
  const char *from;
  void *from_array, *from_context;
  size_t from_pitch, from_height, to_x, to_y, to_z, to_level;
  int to_type;
  void *to_host;
  char *to;
  void *to_array, *to_context;
  size_t to_pitch, to_height, width, height, depth;
};
int copyPeer(const PeerOfRuntime *copy) {
  std::memmove(copy->to.at, copy->from.at, copy->extent.x * copy->extent.y * copy->extent.z);
  return 0;
}
int copyPeer(const PeerOfDriver *copy) {
  std::memmove(copy->to, copy->from, copy->width * copy->height * copy->depth);
  return 0;
}

} // namespace

#define LISTS char **to, char **from, size_t *bytes, size_t count, void *, size_t *, size_t
#define VOLUMES size_t count, Volume *copies
#define WITH_ATTRIBUTES(name, volume_name)                                                                             \
  int name(char *to, char *from, size_t bytes, void *, void *) { return copyLists(&to, &from, &bytes, 1); }            \
  int volume_name(Volume *copy, unsigned long long, void *) { return copyVolumes(1, copy); }
#define LISTS_FUNCTION(name, ...)                                                                                      \
  int name(LISTS, __VA_ARGS__) { return copyLists(to, from, bytes, count); }
#define VOLUMES_FUNCTION(name, ...)                                                                                    \
  int name(VOLUMES, __VA_ARGS__) { return copyVolumes(count, copies); }

extern "C" {
#ifdef RUNTIME
#if VERSION >= 13
LISTS_FUNCTION(cudaMemcpyBatchAsync, void *)
LISTS_FUNCTION(cudaMemcpyBatchAsync_ptsz, void *)
VOLUMES_FUNCTION(cudaMemcpy3DBatchAsync, unsigned long long, void *)
VOLUMES_FUNCTION(cudaMemcpy3DBatchAsync_ptsz, unsigned long long, void *)
WITH_ATTRIBUTES(cudaMemcpyWithAttributesAsync, cudaMemcpy3DWithAttributesAsync)
WITH_ATTRIBUTES(cudaMemcpyWithAttributesAsync_ptsz, cudaMemcpy3DWithAttributesAsync_ptsz)
#else
LISTS_FUNCTION(cudaMemcpyBatchAsync, size_t *, void *)
VOLUMES_FUNCTION(cudaMemcpy3DBatchAsync, size_t *, unsigned long long, void *)
#ifndef HIP
LISTS_FUNCTION(cudaMemcpyBatchAsync_ptsz, size_t *, void *)
VOLUMES_FUNCTION(cudaMemcpy3DBatchAsync_ptsz, size_t *, unsigned long long, void *)
#endif
#endif
int cudaMemcpy3DPeer(const PeerOfRuntime *copy) { return copyPeer(copy); }
int cudaMemcpy3DPeerAsync(const PeerOfRuntime *copy, void *) { return copyPeer(copy); }
#ifndef HIP
int cudaMemcpy3DPeer_ptds(const PeerOfRuntime *copy) { return copyPeer(copy); }
int cudaMemcpy3DPeerAsync_ptsz(const PeerOfRuntime *copy, void *) { return copyPeer(copy); }
#endif
#else
LISTS_FUNCTION(cuMemcpyBatchAsync, size_t *, void *)
LISTS_FUNCTION(cuMemcpyBatchAsync_ptsz, size_t *, void *)
LISTS_FUNCTION(cuMemcpyBatchAsync_v2, void *)
LISTS_FUNCTION(cuMemcpyBatchAsync_v2_ptsz, void *)
VOLUMES_FUNCTION(cuMemcpy3DBatchAsync, size_t *, unsigned long long, void *)
VOLUMES_FUNCTION(cuMemcpy3DBatchAsync_ptsz, size_t *, unsigned long long, void *)
VOLUMES_FUNCTION(cuMemcpy3DBatchAsync_v2, unsigned long long, void *)
VOLUMES_FUNCTION(cuMemcpy3DBatchAsync_v2_ptsz, unsigned long long, void *)
WITH_ATTRIBUTES(cuMemcpyWithAttributesAsync, cuMemcpy3DWithAttributesAsync)
WITH_ATTRIBUTES(cuMemcpyWithAttributesAsync_ptsz, cuMemcpy3DWithAttributesAsync_ptsz)
int cuMemcpy3DPeer(const PeerOfDriver *copy) { return copyPeer(copy); }
int cuMemcpy3DPeer_ptds(const PeerOfDriver *copy) { return copyPeer(copy); }
int cuMemcpy3DPeerAsync(const PeerOfDriver *copy, void *) { return copyPeer(copy); }
int cuMemcpy3DPeerAsync_ptsz(const PeerOfDriver *copy, void *) { return copyPeer(copy); }
#endif
}
