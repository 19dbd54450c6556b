// A watched block: its address, and its content when it was compared last.
#pragma once

#include "msleaks/abi/hook.h"
#include "msleaks/abi/symbol.h"

#include <cstdint>

namespace msleaks::runtime {

enum class Where : uint8_t {
  Host,   // memory that the process can read
  Handle, // a cl_mem: only its queues can read it
  Device, // an address that only a driver can read
};

// The range from the first changed byte to the byte after the last changed byte. It is empty if no byte has changed.
struct Difference {
  uint64_t begin = UINT64_MAX, end = 0;
  bool empty() const noexcept { return begin >= end; }
};

// The driver's functions and the stream that read a block of a device.
struct Reader {
  const hook::Device *device; // null: there is no driver
  abi::Family family;
  const void *stream;
};

// The form of a tensor as in safetensors: the type of its elements and its extents. Without a type the elements are
// bytes.
struct TensorForm {
  char type[16]; // the longest name is "F8_E4M3FNUZ"
  uint64_t dimensions;
  int64_t extents[hook::kMostDimensions];
};

struct WatchedBlock {
  uint64_t address; // 0 = this entry is free
  uint64_t bytes, looks;
  uint64_t name; // label of the watch's name
  char *content; // the bytes when the block was last compared
  Where where;
  abi::Family family; // the driver that has read a block of kind Handle or Device
  bool is_known;      // whether `content` is valid
  bool from_birth;    // the block is watched since its allocation
  TensorForm form;

  // Reads the block, stores its content, and sets `difference` to the difference to the last content. Returns false if
  // a device's block cannot be read now, or if a host's block cannot be read any more.
  bool look(const Reader &reader, char *scratch, uint64_t scratch_bytes, Difference &difference) noexcept;

private:
  bool read(const Reader &reader, uint64_t offset, char *to, uint64_t bytes) const noexcept;
  bool isReadableBy(const Reader &reader) const noexcept;
};

// Returns the kind of an address that the program watches.
Where whereIs(uint64_t address, uint64_t bytes) noexcept;

// Registers the driver of an OpenCL object by the object's handle. The handle is an address of the host, but the
// object's memory is elsewhere.
void noteHandle(uint64_t handle) noexcept;

// Copies memory of this process. Returns false if a part of the memory is not mapped.
bool readHost(uint64_t address, void *to, uint64_t bytes) noexcept;

} // namespace msleaks::runtime
