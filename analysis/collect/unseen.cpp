#include "analysis/collect/unseen.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <string_view>

namespace msleaks::analysis::inline collect {
namespace {

const char *hint(int error) {
  switch (error) {
  case EACCES:
  case EPERM:
    return " (it changed its user before it recorded)";
  case ENOENT:
    return " (it changed its root directory before it recorded)";
  default:
    return "";
  }
}

bool isFactTool(std::string_view name) {
  constexpr std::string_view kTools[] = {
#define MSL_FACT_TOOL(name, starter) name,
#include "fact_tools.def"
  };
  return std::find(std::begin(kTools), std::end(kTools), name) != std::end(kTools);
}

void addListed(const abi::UnseenProcess &process, Unseen &unseen) {
  const bool ready = process.ready.load(std::memory_order_acquire) != 0;
  const int error = ready ? process.error : EAGAIN;
  if (error == abi::kStayed)
    return;
  const std::string name = ready ? std::string(process.name, strnlen(process.name, sizeof process.name)) : "";
  if (error == abi::kUnfollowed && isFactTool(name))
    return;
  const uint32_t pid = ready ? process.pid : 0;
  unseen.processes.push_back({0, error == abi::kChildOfSandboxed ? 0 : pid,
                              name.empty() ? std::vector<std::string>{} : std::vector{name}, -1});
  if (error == abi::kSandboxed)
    unseen.notes.push_back(fmt::format("pid {} ({}) began under a seccomp filter that another program had installed: "
                                       "nothing of this process is recorded",
                                       pid, name));
  else if (error == abi::kChildOfSandboxed)
    unseen.notes.push_back(
        fmt::format("pid {} installed a seccomp filter and forked: nothing of the child is recorded", pid));
  else if (error == abi::kUnfollowed)
    unseen.notes.push_back(fmt::format("pid {} ({}) was started with an environment that does not name the session: "
                                       "nothing of this process is recorded",
                                       pid, name));
  else
    unseen.notes.push_back(fmt::format(
        "pid {} ({}) could not make its files: {}{}: nothing of this process and its forked children is recorded", pid,
        name, std::strerror(error), hint(error)));
}

} // namespace

Unseen readUnseen(const SessionDir &session) {
  Unseen unseen;
  const abi::UnseenPage *page = session.unseen();
  if (!page)
    return unseen;
  unseen.dropped = page->dropped.load(std::memory_order_relaxed);
  if (unseen.dropped != 0)
    unseen.notes.push_back(fmt::format(
        "{} events are dropped: their processes found no collector and had used up the shared memory for this case, or "
        "a seccomp filter kept them from making their files",
        unseen.dropped));
  const uint32_t count = page->count.load(std::memory_order_acquire);
  const uint32_t listed = std::min(count, abi::kMaxUnseen);
  for (uint32_t i = 0; i < listed; ++i)
    addListed(page->processes[i], unseen);
  if (count > listed) {
    unseen.processes.insert(unseen.processes.end(), count - listed, RunProcess{0, 0, {}, -1});
    unseen.notes.push_back(fmt::format(
        "{} more processes could not make their files, or were started without msleaks in their environment",
        count - listed));
  }
  return unseen;
}

} // namespace msleaks::analysis::inline collect
