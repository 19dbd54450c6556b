#include "run/recording.h"

#include "run/kernel_evidence.h"

#include "analysis/base/program.h"
#include "analysis/collect/kernel.h"

#include "msleaks/abi/counts_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <time.h>
#include <unistd.h>
#include <utility>

namespace msleaks::driver {
namespace {

namespace fs = std::filesystem;
constexpr char kFallbackSession[] = "session"; // name of the session's folder inside the run folder

std::string hostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// Returns the processor time of msleaks-run itself.
uint64_t ownCpuNs() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval &time) {
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_usec) * 1000u;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

fs::path defaultOutput(const std::string &program) {
  const time_t now = time(nullptr);
  tm local{};
  localtime_r(&now, &local);
  char date[32];
  strftime(date, sizeof date, "%Y%m%d-%H%M%S", &local);
  return fmt::format("msleaks-{}-{}-{}", fs::path(program).filename().string(), date, getpid());
}

analysis::Manifest firstManifest(const RunOptions &options) {
  analysis::Manifest manifest;
  manifest.state = "running";
  manifest.msleaks_version = MSLEAKS_VERSION;
  manifest.session_dir = analysis::SessionDir::propose().string();
  manifest.host = hostName();
  manifest.start_realtime_ns = analysis::readRealtimeNs();
  manifest.start_ns = analysis::readMonotonicNs();
  manifest.command = options.command;
  manifest.options = options.given;
  return manifest;
}

// Returns the path of msleaks-cl beside this program. If the file is missing, the hooks report this when a process
// first builds an OpenCL program from source.
std::string kernelCompiler() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? std::string() : (self.parent_path() / "msleaks-cl").string();
}

// Returns the values of --watch for the runtime. With full-content, also makes the content folder. Its path is
// absolute, since processes with different current folders write files there.
Result<abi::WatchWish> watchOf(const analysis::WatchOption &option, const fs::path &run) {
  abi::WatchWish wish = option.wish;
  if (!option.full_content)
    return wish;
  std::error_code error;
  const std::string folder = (fs::absolute(run, error) / analysis::kContentFolder).string();
  if (error)
    return fail(fmt::format("the current folder: {}", error.message()), ExitStatus::OwnFault);
  if (folder.size() >= sizeof wish.folder)
    return fail(fmt::format("--watch …,full-content: the path {} has more than {} bytes: choose a shorter one by -o",
                            folder, sizeof wish.folder - 1),
                ExitStatus::Usage);
  if (mkdir(folder.c_str(), 0750) != 0)
    return fail(fmt::format("{}: {}", folder, std::strerror(errno)), ExitStatus::OwnFault);
  std::memcpy(wish.folder, folder.c_str(), folder.size());
  return wish;
}

} // namespace

Cleanup::Cleanup(const fs::path &folder) : folder_(folder.lexically_normal()) {
  std::error_code refused; // a path that cannot be examined counts as existing
  for (fs::path path = folder_; !path.empty() && !fs::exists(path, refused) && !refused; path = path.parent_path())
    missing_.push_back(path);
}

Cleanup::Cleanup(Cleanup &&other) noexcept
    : folder_(std::exchange(other.folder_, {})), missing_(std::move(other.missing_)), files_(other.files_) {}

void Cleanup::run() {
  if (folder_.empty())
    return;
  std::error_code ignored;
  if (files_)
    for (const char *file : {analysis::kTraceFile, analysis::kManifestFile, analysis::kContentFolder})
      fs::remove(folder_ / file, ignored);
  for (const fs::path &folder : missing_)
    fs::remove(folder, ignored); // fails if the folder contains other files
  dismiss();
}

Recording::Recording(const RunOptions &options, analysis::Manifest manifest, Cleanup cleanup,
                     analysis::RunFolder folder, analysis::SessionDir session, analysis::TraceWriter trace)
    : cleanup_(std::move(cleanup)), folder_(std::move(folder)), session_(std::move(session)),
      collector_(session_, std::move(trace)), manifest_(std::move(manifest)),
      early_wanted_(options.wantsReport() && !options.analyze_at_end) {
  if (options.kernel.empty())
    return;
  kernel_ = startKernel(options.kernel, options.kernel_ring_kib);
  collector_.observeKernel(*kernel_);
}

Recording::~Recording() { stopThread(); }

// Creates the collector's thread before the program starts, so a failure can still be reported. The thread begins its
// work when the program has started.
Result<void> Recording::startThread() {
  try {
    thread_ = std::thread([this, begin = begin_.get_future()]() mutable {
      if (begin.get())
        collector_.run();
    });
  } catch (const std::system_error &error) {
    return fail(fmt::format("no thread for the collector: {}", error.code().message()), ExitStatus::OwnFault);
  }
  return {};
}

void Recording::stopThread() {
  if (!thread_.joinable())
    return;
  if (program_pid_ == 0)
    begin_.set_value(false);
  thread_.join();
}

// Creates a recording. If msleaks refuses the path of the run folder, the user made a mistake, and the error keeps its
// status. If the machine cannot provide the path (BadInput), the status becomes OwnFault.
Result<std::unique_ptr<Recording>> Recording::create(const RunOptions &options) {
  auto recording = tryToCreate(options);
  if (!recording && recording.error().status == ExitStatus::BadInput)
    recording.error().status = ExitStatus::OwnFault;
  return recording;
}

Result<std::unique_ptr<Recording>> Recording::tryToCreate(const RunOptions &options) {
  const fs::path wanted = options.output.empty() ? defaultOutput(options.command[0]) : fs::path(options.output);
  Cleanup cleanup(wanted);
  auto folder = MSL_TRY(analysis::RunFolder::create(wanted));
  cleanup.filesMayExist();
  auto trace = MSL_TRY(analysis::TraceWriter::create(folder.trace(), folder.descriptor()));
  // The manifest contains the path of the shared memory. It is written before the memory is created, and once more if
  // the memory is in the fallback folder. So `msleaks recover` finds the memory, whenever msleaks-run is killed while
  // the program runs.
  analysis::Manifest manifest = firstManifest(options);
  analysis::SessionWish wish;
  wish.flags = options.flags;
  const auto watch = MSL_TRY(watchOf(options.watch, folder.path()));
  wish.watch = watch;
  wish.enabled =
      options.kernel.empty() ? options.enabled & ~abi::kKernelEvidence : options.enabled | abi::kKernelEvidence;
  wish.steps = options.steps;
  wish.devices = options.devices;
  wish.paused = options.start_paused;
  wish.clock = analysis::chooseClock();
  wish.place = manifest.session_dir;
  std::error_code error;
  wish.fallback = fs::absolute(folder.path(), error) / kFallbackSession;
  if (error)
    return fail(fmt::format("the current folder: {}", error.message()), ExitStatus::OwnFault);
  wish.counts_folder = fs::absolute(folder.path() / abi::kCountsFolder).string();
  if (options.count_sources)
    wish.kernel_compiler = kernelCompiler();
  const auto tell = [&manifest](const std::string &what) {
    spdlog::warn("{}", what);
    manifest.notes.push_back(what);
  };
  if (const std::string reason = analysis::whyUnserved(analysis::askKernel()); !reason.empty())
    tell(reason);
  if (!options.steps.empty())
    manifest.notes.push_back(fmt::format("--steps {}: only blocks that were allocated in these steps are recorded",
                                         fmt::join(options.steps, ",")));
  if (options.devices.isRestricted())
    manifest.notes.push_back("--device: only blocks of these devices are recorded");
  if (options.watch.wish.kind != abi::WatchKind::None)
    tell("--watch: while a block is watched, the program waits for each launch, copy and fill. So fewer operations run "
         "at the same time than without it");
  MSL_TRY(folder.writeManifest(manifest));
  auto session = MSL_TRY(analysis::SessionDir::create(wish));
  if (!session.note().empty()) {
    tell(session.note());
    manifest.session_dir = session.path().string();
    if (auto written = folder.writeManifest(manifest); !written) {
      session.remove();
      return tl::make_unexpected(written.error());
    }
  }
  std::unique_ptr<Recording> recording(new Recording(options, std::move(manifest), std::move(cleanup),
                                                     std::move(folder), std::move(session), std::move(trace)));
  if (auto started = recording->startThread(); !started) {
    recording->discard();
    return tl::make_unexpected(started.error());
  }
  return recording;
}

void Recording::discard() {
  stopThread();
  session_.remove();
  cleanup_.run();
}

void Recording::programStarted(pid_t pid) noexcept {
  program_pid_ = static_cast<uint32_t>(pid);
  cleanup_.dismiss();
  if (kernel_)
    kernel_->keepOutChildren();
  collector_.programStarted(program_pid_);
  begin_.set_value(true);
  if (early_wanted_)
    early_ = EarlyReport::start(folder_.path(), session_.path());
}

void Recording::programEnded(int wait_status) {
  collector_.programEnded(wait_status);
  stopThread();
  finishManifest(wait_status);
  if (summary().failure)
    return;
  if (early_)
    early_->stop(); // the report's thread may be writing to the session's folder
  session_.remove();
}

bool Recording::sawProgram() const {
  return std::any_of(
      summary().processes.begin(), summary().processes.end(),
      [this](const analysis::RunProcess &process) { return process.pid == program_pid_ && process.process != 0; });
}

void Recording::finishManifest(int wait_status) {
  const analysis::CollectorSummary &summary = collector_.summary();
  // If the recording stopped early, the state stays "running": `msleaks recover` can still complete the folder.
  if (!summary.failure)
    manifest_.state = "complete";
  manifest_.end_ns = analysis::readMonotonicNs();
  manifest_.processes = summary.processes;
  if (kernel_)
    manifest_.kernel = kernel_->collectors();
  manifest_.notes.insert(manifest_.notes.end(), summary.notes.begin(), summary.notes.end());
  if (summary.failure)
    manifest_.notes.push_back(fmt::format("recording stopped early: {}", summary.failure->message));
  const bool attached =
      std::any_of(summary.processes.begin(), summary.processes.end(),
                  [this](const analysis::RunProcess &process) { return process.pid == program_pid_; });
  if (!attached)
    manifest_.processes.insert(manifest_.processes.begin(),
                               {0, program_pid_, manifest_.command, analysis::shellStatus(wait_status)});
  // The early report's processor time is no cost of recording, because it is spent on idle processors.
  const uint64_t early_ns = early_ ? early_->cpuNs() : 0, own_ns = ownCpuNs();
  manifest_.collector_cpu_ns = own_ns - std::min(own_ns, early_ns);
  if (auto written = folder_.writeManifest(manifest_); !written && !summary.failure)
    spdlog::error("{}", written.error().message);
}

} // namespace msleaks::driver
