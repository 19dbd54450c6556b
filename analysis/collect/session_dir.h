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
// A program that watches the session touches the first file. Then msleaks-run keeps the second file up to date
// (watch/session_sums.h).
inline constexpr char kWatchedFile[] = "watched";
inline constexpr char kSumsFile[] = "sums", kUnfinishedSums[] = "sums.new";
// A link of msleaks-run to the folder of the hooks, if LD_PRELOAD cannot contain the folder's own path.
inline constexpr char kLibraryLink[] = "lib";

// Returns the pid in an arena's file name. It is needed if the process could not fill the arena.
uint32_t pidOfArena(const std::filesystem::path &);

// Devices whose blocks are recorded. None: those of all devices.
struct DeviceChoice {
  uint32_t accelerators = 0; // bit N: device N
  bool host = false;

  bool isRestricted() const { return accelerators != 0 || host; }
};

struct SessionWish {
  abi::Flags flags;
  abi::WatchWish watch{};
  std::string counts_folder;   // folder for the processes' counts; empty, or too long for the page: none
  std::string kernel_compiler; // compiles kernels that are given as source; empty, or too long for the page: none
  uint32_t enabled = 0;        // bit per EventKind
  std::vector<uint64_t> steps; // only blocks of these steps are recorded, at most ChosenSteps::kMost; empty = all
  DeviceChoice devices;
  bool paused = false; // nothing is recorded until the session is started
  abi::ClockKind clock{};
  std::filesystem::path place;    // directory to create, see SessionDir::propose
  std::filesystem::path fallback; // created and used instead if `place` has not enough room
};

class SessionDir {
public:
  // Returns a name that nobody else uses. If the caller stores it before create(), it can clean up after a kill at any
  // moment.
  static std::filesystem::path propose(const std::filesystem::path &shared_memory = "/dev/shm");
  // Creates the directory with mode 0700 and a control page, which is complete when it gets its name. The page stays
  // locked while this object lives. So others can see whether the session's collector is alive.
  static Result<SessionDir> create(const SessionWish &);
  // Takes over the directory of a session whose collector has ended. Fails while that collector is alive.
  static Result<SessionDir> adopt(const std::filesystem::path &);

  const std::filesystem::path &path() const { return path_; }
  abi::ControlPage &control() const { return *page_.at<abi::ControlPage>(0); }
  // Reports of processes that could not make an arena; null: the session has no such page.
  const abi::UnseenPage *unseen() const { return unseen_.bytes() ? unseen_.at<abi::UnseenPage>(0) : nullptr; }
  // Why the fallback is used; empty: it is not used.
  const std::string &note() const { return note_; }

  // Returns all arena files of the session, in no particular order.
  std::vector<std::filesystem::path> arenas() const;
  // Whether a file may have been added since the last call that returned true. Calls stat once.
  bool changed();

  // Removes an arena and its definitions. Call this when all of them are in the trace.
  static void removeArena(const std::filesystem::path &arena);
  // Removes the files that a killed create() left.
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
