// Allocates the same memory again and again, in the wasteful way that the argument names. With `mended` it does
// the work of `temporary` and `doubling` without churn. The number of allocations is known for each way.
#include <cstdio>
#include <cstdlib>
#include <list>
#include <string_view>
#include <utility>
#include <vector>

enum { kLines = 1'500'000, kWords = 2000, kBuffers = 1000, kTables = 200'000, kEntries = 16, kRequests = 1500 };
enum { kNodes = 500, kStates = 20'000, kStateBytes = 100'000 };

// Hides the block from the optimiser, so that the compiler does not delete the allocation.
template <class T> static T *used(T *block) {
  __asm__ volatile("" : "+r"(block)::"memory");
  return block;
}

static void temporary() {
  for (int line = 0; line < kLines; ++line)
    std::free(used(std::malloc(80))); // allocates a buffer for each line
}

static void growing() {
  for (int buffer = 0; buffer < kBuffers; ++buffer) {
    char *words = nullptr;
    for (int word = 1; word <= kWords; ++word)
      words = used(static_cast<char *>(std::realloc(words, static_cast<size_t>(word) * 16))); // grows by one word
    std::free(words);
  }
}

static void doubling() {
  for (int table = 0; table < kTables; ++table) {
    std::vector<long> entries;
    for (int entry = 0; entry < kEntries; ++entry)
      entries.push_back(entry); // no reserve
    used(entries.data());
  }
}

static void nodes() {
  for (int request = 0; request < kRequests; ++request) {
    std::list<long> queue;
    for (int node = 0; node < kNodes; ++node)
      queue.push_back(node); // allocates a block for each node
    used(&queue.front());
  }
}

static void clearing() {
  for (int state = 0; state < kStates; ++state) {
    char *const made = used(static_cast<char *>(std::calloc(1, kStateBytes))); // clears a large block for each state
    made[0] = 1;
    std::free(used(made));
  }
}

// Does the work of temporary() and doubling() without churn.
static void mended() {
  char *buffer = static_cast<char *>(std::malloc(80));
  for (int line = 0; line < kLines; ++line)
    used(buffer);
  std::free(buffer);
  std::vector<long> entries;
  entries.reserve(kEntries);
  for (int table = 0; table < kTables; ++table) {
    entries.clear();
    for (int entry = 0; entry < kEntries; ++entry)
      entries.push_back(entry);
    used(entries.data());
  }
}

int main(int, char **arguments) {
  constexpr std::pair<std::string_view, void (*)()> kWays[] = {{"temporary", temporary}, {"growing", growing},
                                                               {"doubling", doubling},   {"nodes", nodes},
                                                               {"clearing", clearing},   {"mended", mended}};
  for (const auto &[name, run] : kWays)
    if (name == arguments[1])
      run();
  std::puts("done");
  return 0;
}
