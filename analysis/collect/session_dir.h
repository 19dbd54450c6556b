// The directory of shared memory in which the processes of a session leave their arenas (abi/session.h).
#pragma once

#include "analysis/base/result.h"
#include "analysis/reach/mapping.h"
#include "msleaks/abi/session.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace msleaks::analysis::inline collect {

inline constexpr char kRingsSuffix[] = ".rings";
inline constexpr char kDefinitionsSuffix[] = ".defs";
// Who watches the session touches the first file; then msleaks-run keeps the second one up to date
// (watch/session_sums.h).
inline constexpr char kWatchedFile[] = "watched";
inline constexpr char kSumsFile[] = "sums", kUnfinishedSums[] = "sums.new";
// msleaks-run's second name for the folder of the hooks, where LD_PRELOAD cannot say the first.
inline constexpr char kLibraryLink[] = "lib";

// By its name alone: of an arena that its process could not fill.
uint32_t pidOfArena(const std::filesystem::path &);

struct SessionWish {
  abi::Flags flags;
  abi::WatchWish watch{};
  std::string counts_folder;   // where processes put what they count; empty, or too long to be told: nowhere
  std::string kernel_compiler; // of kernels that are given as source; empty, or too long to be told: none
  uint32_t enabled = 0;        // bit per EventKind
  bool paused = false;         // records nothing until it is told to start
  abi::ClockKind clock{};
  std::filesystem::path place;    // to be made, see SessionDir::propose
  std::filesystem::path fallback; // made and used instead when there is not enough room for `place`
};

class SessionDir {
public:
  // A name that nobody else uses. Whoever writes it down before create() can clean up after a kill at any moment.
  static std::filesystem::path propose(const std::filesystem::path &shared_memory = "/dev/shm");
  // Makes the directory, 0700, and in it the control page, complete before it gets its name. The page stays locked as
  // long as this object lives: so a session tells whether its collector does.
  static Result<SessionDir> create(const SessionWish &);
  // Takes over the directory of a session whose collector has gone. Fails while that one is alive.
  static Result<SessionDir> adopt(const std::filesystem::path &);

  const std::filesystem::path &path() const { return path_; }
  abi::ControlPage &control() const { return *page_.at<abi::ControlPage>(0); }
  // What processes left that could not make an arena; null in a session of somebody who made no such page.
  const abi::UnseenPage *unseen() const { return unseen_.bytes() ? unseen_.at<abi::UnseenPage>(0) : nullptr; }
  // Why the fallback is used; empty when it is not.
  const std::string &note() const { return note_; }

  // Every arena file in it, in no particular order.
  std::vector<std::filesystem::path> arenas() const;
  // Whether a file may have come since the last call that said yes. One stat.
  bool changed();

  // Removes an arena and its definitions: all of it is in the trace.
  static void removeArena(const std::filesystem::path &arena);
  // Removes the rest that a kill in the middle of create() left.
  static void removeUnfinished(const std::filesystem::path &directory);
  void remove();

private:
  Result<void> makeControl(const SessionWish &);
  Result<void> makeUnseen();
  void openUnseen();

  std::filesystem::path path_;
  FileDescriptor control_;
  Mapping page_, unseen_;
  std::string note_;
  uint64_t seen_mtime_ns_ = 0;
};

} // namespace msleaks::analysis::inline collect
