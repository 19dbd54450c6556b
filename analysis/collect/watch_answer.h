// Answers a process that watches a line and asks for the addresses of the line's code in an image
// (abi::ArenaHeader::watch_image).
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

// Returns the addresses of the line's code in image `number` of the process with this definitions file. Reads debug
// information, which takes seconds for a large image.
std::vector<abi::WatchRange> rangesOfLine(const std::filesystem::path &definitions, uint32_t number,
                                          const abi::WatchWish &);

// Answers the processes of a session. The search has a thread of its own: if the collector searched, it would not drain
// the rings meanwhile, and events would be dropped.
class WatchAnswers {
public:
  // The thread calls this. If it throws an exception, the answer is that there is no such code.
  using Find = std::function<std::vector<abi::WatchRange>(const std::filesystem::path &definitions, uint32_t image)>;

  // The thread calls `found` when it has an answer.
  WatchAnswers(Find find, std::function<void()> found) : find_(std::move(find)), found_(std::move(found)) {}
  ~WatchAnswers();

  // Takes a new question of the process, and stores the answer if there is one. Does not wait.
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
  std::mutex lock_; // protects all members below
  std::condition_variable changed_;
  std::map<std::string, Question> questions_; // by the arena's file: a process has one question at a time
  std::deque<std::string> waiting_;           // arenas whose questions the thread has not taken yet
  bool stopped_ = false;
  std::thread thread_; // started at the first question
};

} // namespace msleaks::analysis::inline collect
