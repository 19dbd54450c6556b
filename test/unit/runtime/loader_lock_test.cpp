// With glibc before 2.35 the loader is asked under its lock. A thread that holds that lock may call the runtime
// meanwhile.
#include "session_fixture.h"

#include "loaded_object.h"

#include "msleaks/runtime/path.h"

#include <link.h>

namespace msleaks::test {
namespace {

constexpr int kPaths = 20'000;

// A call at an address of no image: each is new, and the loader is asked for it.
void takeNewPath(uint64_t address) {
  const runtime::CallerFrame frame = runtime::callerFrame();
  __msl_path(address, frame.stack_pointer, frame.frame_pointer, 0);
}

int takeNewPathUnderItsLock(dl_phdr_info *, size_t, void *address) {
  takeNewPath(*static_cast<uint64_t *>(address));
  return 1;
}

TEST(LoaderLock, IsNotTakenUnderOurs) {
  const SessionDirectory session;
  EXPECT_EQ(session.runChild([] {
    runtime::loader_needs_no_lock = false;
    std::thread([] {
      for (;;)
        pause(); // for the alarm, which the others block while they wait for a lock
    }).detach();
    alarm(60);
    std::thread other([] {
      for (uint64_t i = 0; i < kPaths; ++i)
        takeNewPath(0x1000'0000 + 16 * i);
    });
    for (uint64_t i = 0; i < kPaths; ++i) {
      uint64_t address = 0x2000'0000 + 16 * i;
      dl_iterate_phdr(takeNewPathUnderItsLock, &address);
    }
    other.join();
    _exit(0);
  }),
            0);
}

} // namespace
} // namespace msleaks::test
