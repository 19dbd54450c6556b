// Allocates the same memory again and again, in one of several wasteful ways. With `mended`
// it does the same work without churn. The number of allocations is known for each way.
#include <cstdio>
#include <cstdlib>
#include <list>
#include <string_view>
#include <utility>
#include <vector>

enum { kLines = 1'500'000, kWords = 2000, kBuffers = 1000, kTables = 200'000, kEntries = 16, kRequests = 1500 };
enum { kNodes = 500, kStates = 20'000, kStateBytes = 100'000 };

// Hides the block's use, so that the optimiser keeps the block.
template <class T> static T *used(T *block) {
  __asm__ volatile("" : "+r"(block)::"memory");
  return block;
}

static void temporary() {
  for (int line = 0; line < kLines; ++line)
    std::free(used(std::malloc(80))); // a buffer for each line
}

static void growing() {
  for (int buffer = 0; buffer < kBuffers; ++buffer) {
    char *words = nullptr;
    for (int word = 1; word <= kWords; ++word)
      words = used(static_cast<char *>(std::realloc(words, static_cast<size_t>(word) * 16))); // a word more
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
      queue.push_back(node); // a node for each
    used(&queue.front());
  }
}

static void clearing() {
  for (int state = 0; state < kStates; ++state) {
    char *const made = used(static_cast<char *>(std::calloc(1, kStateBytes))); // a state for each
    made[0] = 1;
    std::free(used(made));
  }
}

// The same work as in the functions above, without churn.
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
