// Tests that the loader's lock causes no deadlock. With glibc before 2.35, the runtime takes this lock to find an
// image, and a thread that holds the lock may call the runtime.
#include "session_fixture.h"

#include "loaded_object.h"

#include "msleaks/runtime/path.h"

#include <link.h>

namespace msleaks::test {
namespace {

constexpr int kPaths = 20'000;

// Reads a call path with an address outside all images. Each address is used only once, so the runtime must ask the
// loader for its image.
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
        pause(); // receives the alarm, since the other threads block signals while they wait for a lock
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
