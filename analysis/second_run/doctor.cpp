#include "analysis/second_run/doctor.h"

#include "analysis/base/preload.h"
#include "analysis/second_run/call_buffers.h"
#include "analysis/second_run/second_run.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/syscall.h>

namespace msleaks::analysis::inline second_run {
namespace {

// Diagnoses the libraries of each process at the process's end, before an exec, and before a library is unmapped. The
// process stops nowhere else. A library that several processes load gets one diagnosis.
class LibraryObserver final : public TraceObserver {
public:
  explicit LibraryObserver(const HookedSymbols &hooked) : hooked_(hooked), files_(wantedNames(hooked)) {}

  std::vector<sock_filter> filter() const override { return filterOf({SYS_munmap, SYS_execve, SYS_execveat}); }

  // The dynamic linker unmaps a library by one call, which begins at the first byte of the library.
  void called(TracedThread &thread, const SystemCall &call) override {
    if (call.number != SYS_munmap || isImage(thread.tid(), call.arguments[0]))
      look(thread);
  }

  void ends(TracedThread &thread, Last last) override {
    if (last.of_process)
      look(thread);
  }

  std::vector<LibraryDiagnosis> take() {
    const auto rank = [](const LibraryDiagnosis &library) {
      return library.is_program ? 0 : library.role == Role::System ? 2 : 1;
    };
    std::ranges::sort(libraries_, [&](const LibraryDiagnosis &left, const LibraryDiagnosis &right) {
      return std::pair(rank(left), left.path) < std::pair(rank(right), right.path);
    });
    return std::move(libraries_);
  }

private:
  void look(const TracedThread &thread) {
    for (LibraryDiagnosis &library : diagnose(viewOf(thread.tid(), files_), hooked_)) {
      const auto known = std::ranges::find(libraries_, library.path, &LibraryDiagnosis::path);
      if (known != libraries_.end())
        known->add(library);
      else
        libraries_.push_back(std::move(library));
    }
  }

  const HookedSymbols &hooked_;
  LibraryFiles files_;
  std::vector<LibraryDiagnosis> libraries_;
};

// LeakSanitizer needs ptrace, too. Under our tracer it would make the program fail at its end.
void endWithoutLeakCheck() {
  const char *options = std::getenv("LSAN_OPTIONS");
  setenv("LSAN_OPTIONS", fmt::format("{}:detect_leaks=0", options != nullptr ? options : "").c_str(), 1);
}

} // namespace

bool DoctorAnswer::sawAll() const {
  return std::ranges::all_of(libraries, [](const LibraryDiagnosis &library) { return library.unseen.empty(); });
}

Result<DoctorAnswer> examine(const DoctorRun &run) {
  const std::string hooks = MSL_TRY(findHooks({}).map_error([](Error error) {
    error.status = ExitStatus::OwnFault;
    return error;
  }));
  const HookedSymbols hooked = MSL_TRY(HookedSymbols::of(hooks, run.hooks));
  LibraryObserver observer(hooked);
  Tracer tracer(observer);
  endWithoutLeakCheck();
  DoctorAnswer answer;
  answer.exit_status = MSL_TRY(runTraced(
      {.command = run.command, .hooks = hooks, .other_hooks = run.hooks, .variable = "", .stdout_to_stderr = true},
      tracer));
  answer.processes = tracer.processes();
  answer.missed = tracer.missed();
  answer.libraries = observer.take();
  if (answer.libraries.empty())
    return fail(fmt::format("{}: ended before doctor could examine it", run.command[0]));
  return answer;
}

} // namespace msleaks::analysis::inline second_run
