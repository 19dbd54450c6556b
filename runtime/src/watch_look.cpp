#include "watch_look.h"

#include "digest.h"
#include "drivers.h"
#include "kernel_names.h"
#include "label_table.h"

#include "msleaks/runtime/note.h"
#include "msleaks/runtime/record.h"

namespace msleaks::runtime {
namespace {

// The operation since the previous look: its label (0 = none) and its site.
struct Since {
  uint64_t operation;
  uint32_t site;
};

Since sinceLast(const Look &look) noexcept {
  if (look.cause != nullptr)
    return {labelOfOperation(*look.cause), look.cause->site};
  if (const OpenRange *range = innermostRange(look.thread); range != nullptr)
    return {range->label, range->site != 0 ? range->site : look.here};
  return {0, look.here};
}

constexpr abi::Heap heapOf(const WatchedBlock &block) {
  return block.where == Where::Host ? abi::Heap::Host : abi::Heap::Device;
}

// Records the content of a block that has just been read. Call with the lock of the list held.
void recordContent(const Look &look, const WatchedBlock &block, const Since &since) noexcept {
  if (!isEnabled(abi::EventKind::Content))
    return;
  const Content content{block.address,
                        textOf(block.name),
                        block.content,
                        block.bytes,
                        digestOf(block.content, block.bytes),
                        block.where != Where::Host,
                        textOf(since.operation),
                        last_step.load(std::memory_order_relaxed),
                        block.form};
  abi::ContentEvent event{};
  event.header = {abi::EventKind::Content, heapOf(block), 0, 0, since.site, 0};
  event.address = block.address;
  event.name = block.name;
  event.continuation = abi::kContinuationTag;
  event.operation = since.operation;
  event.digest = content.digest;
  event.file = keepContent(content, look.list.files);
  record(look.thread, event);
  if (event.file == abi::kRefusedFile && !look.list.is_refusal_noted) {
    look.list.is_refusal_noted = true;
    __msl_note("files with the content of watched blocks are refused: --watch-max is reached, or the disk is full");
  }
}

void recordChange(const Look &look, const WatchedBlock &block, const Difference &difference,
                  const Since &since) noexcept {
  abi::ChangedEvent event{};
  event.header = {abi::EventKind::Changed, heapOf(block), 0, 0, since.site, 0};
  event.address = block.address;
  event.name = block.name;
  event.continuation = abi::kContinuationTag;
  event.operation = since.operation;
  event.offset = difference.begin;
  event.size = difference.end - difference.begin;
  record(look.thread, event);
}

// Waits for the stream, and returns whether the driver can read blocks then. It cannot if the stream is in capture
// mode, because no operation has run yet. It cannot either if the driver lacks the functions to wait and to read.
bool isDone(const Reader &reader) noexcept {
  const hook::Device &device = *reader.device;
  return device.wait != nullptr && device.read != nullptr && device.wait(reader.stream) == 0;
}

} // namespace

uint64_t labelOfOperation(const Operation &operation) noexcept {
  switch (operation.verb) {
  case abi::Verb::Launch:
    if (const uint64_t name = labelOfKernel(operation.family, operation.kernel); name != 0)
      return name;
    return labelOf("kernel");
  case abi::Verb::Set:
    return labelOf("fill");
  default:
    return labelOf("copy");
  }
}

void lookAtAll(const Look &look) noexcept {
  if (isClosed(look.list))
    return;
  Reader reader{};
  if (look.reader != nullptr)
    reader = {driverOf(look.reader->family), look.reader->family, reinterpret_cast<const void *>(look.reader->stream)};
  const Inside inside(look.thread, reader.device != nullptr ? insideOf(reader.family) : uint16_t{0});
  if (reader.device != nullptr && !isDone(reader))
    reader.device = nullptr;
  for (WatchedBlock &block : look.list.blocks) {
    if (block.address == 0)
      continue;
    Difference difference;
    const bool is_first = !block.is_known;
    const bool is_read = block.look(reader, look.list.scratch, kScratchBytes, difference);
    if ((is_read && is_first) || !difference.empty()) {
      const Since since = sinceLast(look);
      recordContent(look, block, since);
      if (!difference.empty())
        recordChange(look, block, difference, since);
    }
    if (!is_read && block.where == Where::Host)
      endWatch(look.list, look.thread, block); // the block's memory was freed
  }
}

void lookFirst(const Look &look, WatchedBlock &block) noexcept {
  Difference none;
  if (block.look({}, look.list.scratch, kScratchBytes, none))
    recordContent(look, block, sinceLast(look));
  else
    endWatch(look.list, look.thread, block);
}

} // namespace msleaks::runtime
