#include "analysis/live/open_handles.h"

#include <utility>

namespace msleaks::analysis::inline live {
namespace {

using abi::HandleKind;

// How long before an Opened event another thread's Closed event may come. Clocks of two processors differ a little. A
// thread may also detach itself before pthread_create has returned in its creator.
uint64_t earlinessOf(HandleKind kind) { return kind == HandleKind::Thread ? 1'000'000'000 : 1'000; }

// Whether a reset of its device ends the handle.
bool isOfDevice(HandleKind kind) {
  return (kind >= HandleKind::Stream && kind <= HandleKind::Plan) ||
         (kind >= HandleKind::Texture && kind <= HandleKind::GreenContext);
}

} // namespace

void OpenHandles::apply(const StreamEvent &event, SiteId site) {
  if (event.event.header().kind == abi::EventKind::Step) {
    ++processes_[event.process].steps;
    return;
  }
  const auto fields = event.event.as<abi::OpenedEvent>(); // Closed has the same fields
  const Handle handle{static_cast<HandleKind>(fields.kind), fields.handle};
  if (fields.kind > UINT8_MAX || abi::nameOf(handle.kind) == nullptr)
    return;
  Process &process = processes_[event.process];
  if (fields.header.kind == abi::EventKind::Closed)
    close(process, handle, event);
  else if ((fields.header.flags & abi::kRestored) != 0)
    restore(process, handle, event);
  else
    make(process, handle, event, site);
}

// If the same handle is still open, its close was not seen.
void OpenHandles::make(Process &process, const Handle &handle, const StreamEvent &event, SiteId site) {
  const uint64_t time_ns = event.event.header().time;
  if (const auto early = process.early.extract(handle); !early.empty() && early.mapped().stream != event.stream &&
                                                        time_ns <= early.mapped().time_ns + earlinessOf(handle.kind))
    return;
  process.open[handle] = {.site = site,
                          .time_ns = time_ns,
                          .device = static_cast<uint8_t>(event.event.header().device),
                          .step = process.steps};
}

// Adds an owner, or the thread's last close was refused.
void OpenHandles::restore(Process &process, const Handle &handle, const StreamEvent &event) {
  if (const auto open = process.open.find(handle); open != process.open.end()) {
    ++open->second.owners;
    return;
  }
  const auto taken = process.taken.find(event.stream);
  if (taken != process.taken.end() && taken->second.handle == handle)
    process.open[handle] = taken->second.open;
  process.early.erase(handle);
}

void OpenHandles::close(Process &process, const Handle &handle, const StreamEvent &event) {
  process.taken.erase(event.stream);
  const auto open = process.open.find(handle);
  if (open == process.open.end())
    return noteEarly(process, handle, event);
  if (--open->second.owners != 0)
    return;
  Open last = open->second;
  last.owners = 1;
  process.taken[event.stream] = {handle, last};
  process.open.erase(open);
}

void OpenHandles::noteEarly(Process &process, const Handle &handle, const StreamEvent &event) {
  constexpr size_t kMost = 1024;
  const uint64_t time_ns = event.event.header().time;
  if (process.early.size() >= kMost)
    std::erase_if(process.early,
                  [&](const auto &early) { return early.second.time_ns + earlinessOf(early.first.kind) < time_ns; });
  if (process.early.size() < kMost)
    process.early[handle] = {time_ns, event.stream};
}

void OpenHandles::endDevice(uint32_t process, uint8_t device) {
  if (const auto found = processes_.find(process); found != processes_.end())
    std::erase_if(found->second.open,
                  [&](const auto &open) { return isOfDevice(open.first.kind) && open.second.device == device; });
}

void OpenHandles::forgetAll() {
  for (auto &[number, process] : processes_)
    process = Process{{}, {}, {}, process.steps};
}

uint32_t OpenHandles::stepsOf(uint32_t process) const {
  const auto found = processes_.find(process);
  return found == processes_.end() ? 0 : found->second.steps;
}

const OpenHandles::Open *OpenHandles::find(uint32_t process, const Handle &handle) const {
  const auto found = processes_.find(process);
  if (found == processes_.end())
    return nullptr;
  const auto open = found->second.open.find(handle);
  return open == found->second.open.end() ? nullptr : &open->second;
}

OpenHandles::OfProcess OpenHandles::endProcess(uint32_t process) {
  const auto ended = processes_.extract(process);
  return ended.empty() ? OfProcess{} : std::move(ended.mapped().open);
}

} // namespace msleaks::analysis::inline live
