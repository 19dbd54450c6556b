// Counts for each cohort how often blocks were allocated, and how many of these blocks could have been avoided because
// they only replaced older ones. Also counts the bytes that were copied because a block grew.
//
// Its memory grows with the number of cohorts and of live blocks, and not with threads that have ended.
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

// The size of more than half of the blocks, if there is one: each block votes for its own size against all other sizes.
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
  // Returns a size only if the remaining votes prove that more than half of the `count` blocks have it.
  std::optional<uint64_t> of(uint64_t count) const { return 2 * votes > count ? std::optional(bytes) : std::nullopt; }
};

struct AllocationCount {
  uint64_t bytes = 0, count = 0;
  uint64_t temporary = 0;                      // freed before their thread allocated another block
  uint64_t alive = 0, most_alive = 0;          // blocks
  uint64_t reallocs = 0;                       // blocks that a realloc made from another block
  uint64_t growth_steps = 0;                   // blocks that took over the content of a smaller block
  uint64_t copied_bytes = 0;                   // size of that content, if the address changed
  uint64_t longest_chain = 0;                  // most growth steps of one block
  uint64_t own_pages = 0, own_pages_bytes = 0; // blocks that the kernel maps and unmaps each time
  uint64_t cleared_bytes = 0;                  // bytes of other blocks that the heap set to zero
  UsualSize usual_size = {};

  // Adds another cohort. Adds both `most_alive`, although they may belong to different times. So the sum of repeated()
  // is a lower bound.
  AllocationCount &operator+=(const AllocationCount &);
  // The number of blocks that could have reused an earlier block of the same place.
  uint64_t repeated() const { return count > most_alive ? count - most_alive : 0; }
};

class AllocationCounts {
public:
  void onAlloc(const Block &, AllocCause, uint64_t time_ns);
  void onFree(const Block &, FreeCause);
  void onRetarget(const Block &, const Block &before);
  // Call it after onFree of the block that a realloc gives back. The thread is the one that calls realloc.
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
  // The time from the thread's first allocation to its last one. For kOtherThreads, the sum over these threads.
  uint64_t nsOfThread(uint32_t process, uint32_t stream) const;
  // The time from each process' first allocation to its end, by process.
  std::unordered_map<uint32_t, Time> ofProcesses() const;

private:
  struct GivenBack {
    uint64_t address = 0, size = 0;
    uint32_t steps = 0;
  };
  // The block that a thread has allocated last. Empty if that block was freed.
  struct Last {
    BlockId id;
    CohortId cohort;
    uint64_t size = 0, copied_bytes = 0;
    bool is_reallocated = false, is_step = false;
  };
  struct Thread {
    Last last;
    GivenBack given_back; // by a realloc that has not finished
    uint64_t last_ns = 0; // time of its last allocation
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
  std::vector<uint32_t> steps_; // by block: how often it has grown
  Recent<uint64_t, Thread> threads_;
  std::unordered_map<uint32_t, ProcessTimes> processes_;
  std::unordered_map<uint32_t, uint64_t> ends_; // times when processes ended
  Thread *last_thread_ = nullptr;               // valid until another thread is asked for
  uint64_t last_key_ = 0;
  ProcessTimes *of_process_ = nullptr; // of last_thread_; elements of the map do not move
  uint64_t *of_thread_ns_ = nullptr;
  GivenBack given_back_;
};

} // namespace msleaks::analysis::inline live
