// A process that watches a line asks where the line's code lies in an image (abi::ArenaHeader::watch_image).
#pragma once

#include "analysis/reach/arena_reader.h"
#include "msleaks/abi/session.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace msleaks::analysis::inline collect {

// The code of the wished line in image `number` of the process with this definitions file. It reads debug information,
// which takes seconds for a large image.
std::vector<abi::WatchRange> rangesOfLine(const std::filesystem::path &definitions, uint32_t number,
                                          const abi::WatchWish &);

// Answers the processes of a session. A thread of its own searches, because a process whose ring is not drained for
// that long drops its events.
class WatchAnswers {
public:
  // Called by the thread. What it throws is the answer that there is no such code.
  using Find = std::function<std::vector<abi::WatchRange>(const std::filesystem::path &definitions, uint32_t image)>;

  // `found` is called by the thread when an answer is there.
  WatchAnswers(Find find, std::function<void()> found) : find_(std::move(find)), found_(std::move(found)) {}
  ~WatchAnswers();

  // Takes the question of the process, if there is a new one, and gives the answer, if it is there. Does not wait.
  void serve(ArenaReader &);

private:
  struct Question {
    uint32_t image;
    std::optional<std::vector<abi::WatchRange>> answer{};
  };
  bool startThread();
  void run() noexcept;
  std::vector<abi::WatchRange> search(const std::string &arena, uint32_t image) const noexcept;

  const Find find_;
  const std::function<void()> found_;
  std::mutex lock_; // of all below
  std::condition_variable changed_;
  std::map<std::string, Question> questions_; // by file of the arena: a process has one question at a time
  std::deque<std::string> waiting_;           // arenas whose question nobody has taken yet
  bool stopped_ = false;
  std::thread thread_; // from the first question on
};

} // namespace msleaks::analysis::inline collect
