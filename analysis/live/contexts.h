// The owners and ranges that are open in each thread, which the program reports by msleaks/api.h. Also the node of
// PyTorch's backward pass that the thread evaluates.
#pragma once

#include "analysis/live/recent.h"
#include "analysis/places/labels.h"
#include "analysis/places/site.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/trace_reader.h"

#include <cstdint>
#include <vector>

namespace msleaks::analysis::inline live {

struct Context {
  LabelId owner;  // the owner that was pushed last
  LabelId phase;  // the innermost range
  SiteId forward; // as in Cohort
};

class Contexts {
public:
  // Call it before the first event. Without labels, LabelIds contain the numbers of the process.
  void useLabels(const Labels &labels) { labels_ = &labels; }
  void apply(const StreamEvent &);
  // The context of the thread's present allocations.
  Context of(uint32_t process, uint32_t stream) const {
    if (threads_.empty()) [[likely]]
      return {};
    const Thread *found = threads_.find(keyOfThread(process, stream));
    return found ? found->now : Context{};
  }
  // From now on, the thread evaluates a node that this path has allocated; not known = none, or another one.
  void evaluate(uint32_t process, uint32_t stream, SiteId forward);
  void endProcess(uint32_t process);

  // The state that a checkpoint stores.
  struct Range {
    LabelId label;
    uint64_t id; // 0 = ends with the innermost range
  };
  struct Thread {
    std::vector<LabelId> owners;
    std::vector<Range> ranges;
    Context now;
  };
  // By keyOfThread(). Contains only threads with something open. A thread may end and leave something open. So keeps
  // only a limited number of threads: those that reported something last.
  using Threads = Recent<uint64_t, Thread, 1 << 15>;
  const Threads &threads() const { return threads_; }
  void restore(uint64_t key, Thread);
  std::string_view textOf(LabelId label) const { return labels_ ? labels_->textOf(label) : std::string_view(); }
  LabelId labelNamed(std::string_view text) const { return labels_ ? labels_->named(text) : LabelId{}; }
  void clear() { threads_.clear(); }
  // The label that a number in an event of this process means.
  LabelId labelOf(uint32_t process, uint64_t number) const;

private:
  void popOwner(uint64_t key, LabelId);
  void dropIfClosed(uint64_t key, const Thread &);
  void endRange(uint32_t process, uint32_t stream, uint64_t id);
  void endLast(uint64_t key, Thread &, uint64_t id);

  const Labels *labels_ = nullptr;
  Threads threads_;
};

} // namespace msleaks::analysis::inline live
