#include "analysis/reach/liveness.h"

#include "analysis/reach/proc_stat.h"
#include "analysis/reach/process_watch.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <signal.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace msleaks::analysis::inline reach {
namespace {

// 0 = the process may not be read, or has ended.
uint64_t pidNamespaceOf(const std::string &process) {
  struct stat status{};
  return stat(("/proc/" + process + "/ns/pid").c_str(), &status) == 0 ? status.st_ino : 0;
}

// Whether the process has this pid in its own namespace. "NSpid: 4711 1" lists the pids in all namespaces, from the
// reader's to the process' own.
bool callsItself(const std::string &process, uint32_t pid) {
  std::ifstream file("/proc/" + process + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("NSpid:", 0) == 0)
      return std::strtoll(line.substr(line.find_last_of("\t ") + 1).c_str(), nullptr, 10) == pid;
  return false;
}

} // namespace

uint32_t pidHere(const ArenaFacts &facts) {
  static const uint64_t ours = pidNamespaceOf("self");
  if (facts.pid_namespace == 0 || ours == 0 || facts.pid_namespace == ours)
    return facts.pid;
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") == std::string::npos && pidNamespaceOf(name) == facts.pid_namespace &&
        callsItself(name, facts.pid))
      return static_cast<uint32_t>(std::strtoll(name.c_str(), nullptr, 10));
  }
  return 0;
}

bool replaces(const ArenaFacts &later, const ArenaFacts &earlier) {
  return later.pid == earlier.pid && later.pid_namespace == earlier.pid_namespace &&
         !abi::isOtherProcess(later.process_birth, earlier.process_birth) &&
         (later.exec_id != earlier.exec_id || later.exec_id == 0);
}

bool isStillRunning(const ArenaFacts &facts) {
  const uint32_t pid = pidHere(facts);
  if (pid == 0 || (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH))
    return false;
  const auto stat = readProcStat(pid);
  if (stat && (stat->hasEnded() || !stat->hadBegun(facts.attach_ns)))
    return false;
  return !ProcessWatch(pid, facts.attach_ns, facts.process_birth).hasEnded(); // as far as is known
}

std::string describeProcess(const ArenaFacts &facts) {
  return fmt::format("pid {} ({})", facts.pid, fmt::join(facts.command, " "));
}

} // namespace msleaks::analysis::inline reach
