// What threads say of themselves (msleaks/api.h): the owners and ranges that are open in each of them.
#pragma once

#include "analysis/places/labels.h"
#include "analysis/trace/trace_reader.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline live {

struct Context {
  LabelId owner; // pushed last
  LabelId phase; // the innermost range
};

class Contexts {
public:
  // Before the first event. Without labels, their numbers are those of the process.
  void useLabels(const Labels &labels) { labels_ = &labels; }
  void apply(const StreamEvent &);
  // Of what the thread allocates now.
  Context of(uint32_t process, uint32_t stream) const {
    if (threads_.empty()) [[likely]]
      return {};
    const auto found = threads_.find(keyOf(process, stream));
    return found == threads_.end() ? Context{} : found->second.now;
  }
  void endProcess(uint32_t process);

  // The state that a checkpoint holds.
  struct Range {
    LabelId label;
    uint64_t id; // 0 = ends with the innermost
  };
  struct Thread {
    std::vector<LabelId> owners;
    std::vector<Range> ranges;
    Context now;
  };
  using Threads = std::unordered_map<uint64_t, Thread>; // by process << 32 | stream
  const Threads &threads() const { return threads_; }
  void restore(uint64_t key, Thread);
  std::string_view textOf(LabelId label) const { return labels_ ? labels_->textOf(label) : std::string_view(); }
  LabelId labelNamed(std::string_view text) const { return labels_ ? labels_->named(text) : LabelId{}; }
  void clear() { threads_.clear(); }
  // The meaning of a number in an event of this process.
  LabelId labelOf(uint32_t process, uint64_t number) const;

private:
  static uint64_t keyOf(uint32_t process, uint32_t stream) { return uint64_t{process} << 32 | stream; }
  static void popOwner(Thread &, LabelId);
  void endRange(uint32_t process, uint32_t stream, uint64_t id);
  static void endLast(Thread &, uint64_t id);

  const Labels *labels_ = nullptr;
  Threads threads_; // that ever said something
};

} // namespace msleaks::analysis::inline live
