// How often blocks of each cohort were allocated, how much of that only gave the same memory again, and what was copied
// from block to block as one grew.
//
// Memory grows with cohorts and what is alive, not with threads that have ended.
#pragma once

#include "analysis/base/tables.h"
#include "analysis/live/live_set.h"
#include "analysis/live/recent.h"
#include "analysis/trace/event_source.h"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline live {

// A size that more than half of some blocks have, if there is one: each block votes for its own against all others.
struct UsualSize {
  uint64_t bytes = 0, votes = 0;
  void vote(uint64_t size) { *this += UsualSize{size, 1}; }
  UsualSize &operator+=(const UsualSize &other) {
    if (bytes == other.bytes)
      votes += other.votes;
    else if (votes >= other.votes)
      votes -= other.votes;
    else
      *this = {other.bytes, other.votes - votes};
    return *this;
  }
  // Shown only where the votes that are left prove it: at least so many of the `count` blocks have it.
  std::optional<uint64_t> of(uint64_t count) const { return 2 * votes > count ? std::optional(bytes) : std::nullopt; }
};

struct AllocationCount {
  uint64_t bytes = 0, count = 0;
  uint64_t temporary = 0;                      // freed before their thread allocated another one
  uint64_t alive = 0, most_alive = 0;          // blocks
  uint64_t reallocs = 0;                       // blocks that a realloc made of another one
  uint64_t growth_steps = 0;                   // blocks that took over the content of a smaller one
  uint64_t copied_bytes = 0;                   // of that content, where the address changed
  uint64_t longest_chain = 0;                  // steps of one block
  uint64_t own_pages = 0, own_pages_bytes = 0; // blocks that the kernel maps and unmaps each time
  uint64_t cleared_bytes = 0;                  // bytes of other blocks that the heap filled with zeros
  UsualSize usual_size = {};

  // Adds another cohort. They may have had the most at different times, so blocks that are repeated here are so in any
  // case.
  AllocationCount &operator+=(const AllocationCount &);
  // So many of the blocks could have been those again that the place had had before.
  uint64_t repeated() const { return count > most_alive ? count - most_alive : 0; }
};

class AllocationCounts {
public:
  void onAlloc(const Block &, AllocCause, uint64_t time_ns);
  void onFree(const Block &, FreeCause);
  void onRetarget(const Block &, const Block &before);
  // Behind onFree of the block that a realloc gives back: the thread that does it.
  void onReallocFree(uint32_t process, uint32_t stream) {
    threadOf(process, stream).given_back = std::exchange(given_back_, {});
  }
  void onProcessEnd(uint32_t process, uint64_t time_ns);

  const std::vector<AllocationCount> &byCohort() const { return by_cohort_; }

  struct Time {
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    uint64_t ns() const { return last_ns > first_ns ? last_ns - first_ns : 0; }
    void reach(uint64_t time_ns);
  };
  // From the first allocation of a thread to its last one; of kOtherThreads, the sum over these.
  uint64_t nsOfThread(uint32_t process, uint32_t stream) const;
  // From the first allocation of a process to its end, by process.
  std::unordered_map<uint32_t, Time> ofProcesses() const;

private:
  struct GivenBack {
    uint64_t address = 0, size = 0;
    uint32_t steps = 0;
  };
  // The block that a thread has allocated last; none when it was freed.
  struct Last {
    BlockId id;
    CohortId cohort;
    uint64_t size = 0, copied_bytes = 0;
    bool is_reallocated = false, is_step = false;
  };
  struct Thread {
    Last last;
    GivenBack given_back; // by the realloc that goes on
    uint64_t last_ns = 0; // of its last allocation
  };
  struct ProcessTimes {
    Time time;
    std::map<uint32_t, uint64_t> threads; // by threadApart()
  };

  Thread &threadOf(uint32_t process, uint32_t stream) {
    const uint64_t key = keyOfThread(process, stream);
    if (last_thread_ == nullptr || key != last_key_) {
      last_thread_ = &threads_[key];
      last_key_ = key;
      of_process_ = &processes_[process];
      of_thread_ns_ = &of_process_->threads[threadApart(stream)];
    }
    return *last_thread_;
  }
  AllocationCount &of(CohortId cohort) { return elementAt(by_cohort_, cohort.index); }
  void reach(Thread &, uint64_t time_ns);
  void addNew(const Block &, AllocationCount &);
  void addStep(Last &, AllocationCount &, uint32_t steps, uint64_t copied_bytes);
  void onReallocated(const Block &, Last &, AllocationCount &, const GivenBack &);
  void onFreed(const Block &, Last &);

  std::vector<AllocationCount> by_cohort_;
  std::vector<uint32_t> steps_; // by block: how often it grew
  Recent<uint64_t, Thread> threads_;
  std::unordered_map<uint32_t, ProcessTimes> processes_;
  std::unordered_map<uint32_t, uint64_t> ends_; // of processes
  Thread *last_thread_ = nullptr;               // valid until another thread is asked for
  uint64_t last_key_ = 0;
  ProcessTimes *of_process_ = nullptr; // of that thread; elements stay where they are
  uint64_t *of_thread_ns_ = nullptr;
  GivenBack given_back_;
};

} // namespace msleaks::analysis::inline live
