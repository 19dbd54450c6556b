#include "run/kernel_evidence.h"

#include "analysis/base/syscall_names.h"
#include "analysis/base/text.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/capability.h>
#include <spdlog/spdlog.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace msleaks::driver {
namespace {

// Without the user id 0, msleaks-run has its capabilities from its file, and needs them only for the attaching.
void dropCapabilities() {
  if (geteuid() == 0)
    return;
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
  if (syscall(SYS_capset, &head, none) != 0)
    spdlog::info("--kernel: capabilities are kept: {}", std::strerror(errno));
}

void warnAbout(const analysis::KernelCollector &status) {
  if (!status.isUsable())
    spdlog::warn("--kernel {}: {}{}{}; the program is not affected (msleaks collectors)", status.name, status.state,
                 status.reason == status.state ? "" : ", " + status.reason,
                 status.error != 0 ? fmt::format(" ({})", std::strerror(status.error)) : "");
}

Result<void> addCall(kernel::Request &request, std::string_view word) {
  const auto number = analysis::syscallNumber(word);
  if (!number)
    return fail(fmt::format("--kernel: '{}' is neither a collector ({}) nor a system call", word,
                            fmt::join(kernel::collectorNames(), ", ")),
                ExitStatus::Usage);
  request.calls.push_back(*number);
  return {};
}

bool isCollector(std::string_view word) {
  const auto &names = kernel::collectorNames();
  return std::find(names.begin(), names.end(), word) != names.end();
}

} // namespace

// A call may have the name of no collector, so the list needs no other separator.
Result<std::vector<kernel::Request>> parseKernel(std::string_view list) {
  std::vector<kernel::Request> requests;
  bool takes_calls = false;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    std::string_view word = list.substr(begin, end - begin);
    begin = end + 1;
    const size_t colon = word.find(':');
    const std::string_view name = word.substr(0, colon);
    if (!isCollector(name)) {
      if (!takes_calls || colon != std::string_view::npos)
        return fail(fmt::format("--kernel: '{}' is none of {}", name, fmt::join(kernel::collectorNames(), ", ")),
                    ExitStatus::Usage);
      MSL_TRY(addCall(requests.back(), word));
      continue;
    }
    if (std::ranges::find(requests, name, &kernel::Request::name) != requests.end())
      return fail(fmt::format("--kernel: {} is named twice", name), ExitStatus::Usage);
    requests.push_back({std::string(name)});
    takes_calls = colon != std::string_view::npos;
    if (takes_calls && name != "syscalls")
      return fail(fmt::format("--kernel: {} takes no calls", name), ExitStatus::Usage);
    if (takes_calls)
      MSL_TRY(addCall(requests.back(), word.substr(colon + 1)));
  }
  return requests;
}

std::unique_ptr<kernel::KernelSession> startKernel(const std::vector<kernel::Request> &requests, uint64_t ring_kib) {
  auto session = kernel::KernelSession::start(
      {.requests = requests, .ring_bytes = ring_kib << 10, .root = static_cast<uint32_t>(getpid())});
  dropCapabilities();
  for (const analysis::KernelCollector &collector : session->collectors())
    warnAbout(collector);
  return session;
}

} // namespace msleaks::driver
