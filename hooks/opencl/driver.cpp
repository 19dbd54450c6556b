#include "opencl/driver.h"

namespace msleaks::hooks::cl {
namespace {

MSL_ASKED(create_queue, "libOpenCL", "clCreateCommandQueue")
MSL_ASKED(release_queue, "libOpenCL", "clReleaseCommandQueue")
MSL_ASKED(flush_queue, "libOpenCL", "clFlush")
MSL_ASKED(create_buffer, "libOpenCL", "clCreateBuffer")
MSL_ASKED(release_buffer, "libOpenCL", "clReleaseMemObject")
MSL_ASKED(read_buffer, "libOpenCL", "clEnqueueReadBuffer")
MSL_ASKED(event_info, "libOpenCL", "clGetEventInfo")
MSL_ASKED(release_event, "libOpenCL", "clReleaseEvent")

} // namespace

Queue OpenClDriver::makeStream(const Place &place) noexcept {
  int status = 0;
  const Queue queue =
      call<Queue(Context, Device, Bits, int *)>(create_queue, place.context, place.device, Bits{0}, &status);
  return status == kDone ? queue : nullptr;
}

void OpenClDriver::dropStream(Queue queue) noexcept { call<int(Queue)>(release_queue, queue); }

Mem OpenClDriver::makeMemory(const Place &place, Queue, void *content, uint64_t bytes) noexcept {
  constexpr Bits kReadWrite = 1, kWithContent = 1 << 5;
  int status = 0;
  const Mem memory = call<Mem(Context, Bits, size_t, void *, int *)>(
      create_buffer, place.context, kReadWrite | kWithContent, bytes, content, &status);
  return status == kDone ? memory : nullptr;
}

bool OpenClDriver::read(const Place &, Queue queue, Mem memory, uint64_t offset, uint64_t bytes, void *to) noexcept {
  return call<Read>(read_buffer, queue, memory, kBlocking, offset, bytes, to, 0u, nullptr, nullptr) == kDone;
}

void OpenClDriver::dropMemory(Mem memory) noexcept { call<int(Mem)>(release_buffer, memory); }

void OpenClDriver::dropEvent(Event event) noexcept { call<int(Event)>(release_event, event); }

bool OpenClDriver::hasEnded(Event event) noexcept {
  constexpr unsigned kEventStatus = 0x11d3;
  int status = 0; // below 0: it failed
  return !infoOf(event_info, event, kEventStatus, sizeof status, &status) || status <= 0;
}

void OpenClDriver::flush(Queue queue) noexcept { call<int(Queue)>(flush_queue, queue); }

} // namespace msleaks::hooks::cl
