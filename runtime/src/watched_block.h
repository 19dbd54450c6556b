// A watched block: the place of its bytes, and their content at the last look.
#pragma once

#include "msleaks/abi/hook.h"
#include "msleaks/abi/symbols.h"

#include <cstdint>

namespace msleaks::runtime {

enum class Where : uint8_t {
  Host,   // as the process reads it
  Handle, // a cl_mem: only its queues can read it
  Device, // an address that only a driver can read
};

// The range from the first changed byte up to behind the last one; empty: no byte has changed.
struct Difference {
  uint64_t begin = UINT64_MAX, end = 0;
  bool empty() const noexcept { return begin >= end; }
};

// The means to read a device's block: the driver's functions, and a stream.
struct Reader {
  const hook::Device *device; // null: none
  abi::Family family;
  const void *stream;
};

// The shape of a tensor: type and number of its elements, as in safetensors. Without a type the elements are bytes.
struct TensorForm {
  char type[8];
  uint64_t dimensions;
  int64_t extents[hook::kMostDimensions];
};

struct WatchedBlock {
  uint64_t address; // 0 = no block
  uint64_t bytes, looks;
  uint64_t name; // label
  char *content; // at the last look
  Where where;
  abi::Family family; // of Handle and Device, once a look has read it
  bool is_known;      // `content` is
  bool from_birth;    // watched since it was allocated
  TensorForm form;

  // Reads the block and keeps its content. False: a device's block cannot be read now, or a host's block no longer.
  bool look(const Reader &reader, char *scratch, uint64_t scratch_bytes, Difference &difference) noexcept;

private:
  bool read(const Reader &reader, uint64_t offset, char *to, uint64_t bytes) const noexcept;
  bool isReadableBy(const Reader &reader) const noexcept;
};

// Returns the kind of an address that the program watches.
Where whereIs(uint64_t address, uint64_t bytes) noexcept;

// Whether this is an OpenCL object. Its handle is an address of the host, but the object's memory is not there.
void noteHandle(uint64_t handle) noexcept;

// Copies memory of this process; false: a part of it is not mapped.
bool readHost(uint64_t address, void *to, uint64_t bytes) noexcept;

} // namespace msleaks::runtime
