#include "analysis/reach/lost_pages.h"

#include <atomic>
#include <cerrno>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

namespace msleaks::analysis::inline reach {
namespace {

std::atomic<uint64_t> lost{0};
uintptr_t pageBytes = 4096; // a signal handler must not call sysconf

void replacePage(int signal, siginfo_t *fault, void *) {
  const int before = errno;
  void *page = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(fault->si_addr) & ~(pageBytes - 1));
  // BUS_ADRERR comes only from a mapped file. After this handler, the instruction runs again with the new page.
  if (fault->si_code != BUS_ADRERR ||
      mmap(page, pageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr); // the next access ends msleaks
  }
  lost.fetch_add(1, std::memory_order_relaxed);
  errno = before;
}

} // namespace

void surviveLostPages() {
  pageBytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action{};
  action.sa_sigaction = replacePage;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

uint64_t lostPages() { return lost.load(std::memory_order_relaxed); }

} // namespace msleaks::analysis::inline reach
