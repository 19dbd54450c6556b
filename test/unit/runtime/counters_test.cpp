// Tests the counters of edges: each thread, and each fork's child, gets its own array.
#include "session_fixture.h"

#include "msleaks/abi/graph_table.h"
#include "msleaks/runtime/record.h"

#include <cstring>
#include <sys/syscall.h>

namespace msleaks::test {
namespace {

thread_local uint64_t *slot = nullptr;

// Counts an edge, as instrumented code does.
void count(const abi::GraphUnit &unit) {
  if (slot == nullptr)
    slot = __msl_counters_of(&unit, &slot);
  ++slot[0];
}

// Expects that parent and child count in separate arrays. libc's fork runs a fork handler in the child. After other
// kinds of fork, the runtime notices the new process when the child records.
template <class Fork> void expectOwnCounts(Fork forkNow) {
  const SessionDirectory session;
  std::strcpy(session.control().counts_folder, (session.path() / "counts").c_str());
  EXPECT_EQ(session.runChild([&] {
    abi::GraphHeader table{};
    table.magic = abi::kGraphMagic;
    table.total_bytes = sizeof table;
    table.counters = 1;
    const abi::GraphUnit unit{abi::kGraphVersion, sizeof(abi::GraphUnit), 1, &table};
    count(unit);
    const uint64_t *parents = slot;
    const pid_t pid = forkNow();
    if (pid == 0) {
      runtime::recordAlloc(abi::Heap::Host, 0, 1, 0x10, 0);
      count(unit);
      _exit(slot != parents ? 0 : 1);
    }
    const int status = SessionDirectory::waitFor(pid);
    _exit(*parents == 1 ? status : 2);
  }),
            0);
}

TEST(Counters, AForkedChildHasItsOwn) {
  expectOwnCounts([] { return fork(); });
}
TEST(Counters, AChildOfUnderscoreForkToo) {
  expectOwnCounts([] { return _Fork(); });
}
TEST(Counters, AChildOfARawCloneToo) {
  expectOwnCounts([] { return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr)); });
}

} // namespace
} // namespace msleaks::test
