#include "analysis/counts/disassembly.h"

#include "analysis/base/files.h"
#include "analysis/base/machine.h"
#include "analysis/base/program.h"
#include "analysis/counts/code_extract.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <span>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace msleaks::analysis::profiles {
namespace {

constexpr uint64_t kNearBytes = 32 << 10;  // objdump reads so much code in about the time that it needs to start.
constexpr uint64_t kLongBytes = 128 << 10; // So much code is worth a parallel run of its own.
constexpr size_t kMostRuns = 64;

std::string onPath(const std::string &name) {
  const auto found = findProgram(name);
  return found ? found->string() : std::string();
}

class Child {
public:
  explicit Child(const std::vector<std::string> &words) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      return;
    output_ = FileDescriptor(ends[0]);
    const FileDescriptor input(ends[1]);
    const std::vector<std::string> environment = environmentWithout({}, {"LC_ALL=C"}); // English is what is parsed
    const std::vector<char *> arguments = pointersTo(words), variables = pointersTo(environment);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, input.get(), STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (::posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), variables.data()) != 0)
      pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
  }
  ~Child() {
    output_.close(); // If the child still writes, it ends now.
    while (pid_ > 0 && ::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR)
      continue;
  }
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;

  // Returns nothing at the end of the child's output.
  std::string_view read() {
    ssize_t count = 0;
    do
      count = pid_ > 0 ? ::read(output_.get(), buffer_.data(), buffer_.size()) : 0;
    while (count < 0 && errno == EINTR);
    return {buffer_.data(), count > 0 ? static_cast<size_t>(count) : 0};
  }

private:
  pid_t pid_ = -1;
  FileDescriptor output_;
  std::array<char, 64 << 10> buffer_;
};

// Shows all code of the image if `range` is null.
std::vector<Instruction> run(const std::string &objdump, const std::string &image, const AddressRange *range) {
  std::vector<std::string> words{objdump, "-d", "--no-show-raw-insn"};
  if (range) {
    words.push_back(fmt::format("--start-address={:#x}", range->begin));
    words.push_back(fmt::format("--stop-address={:#x}", range->end));
  }
  words.push_back(image);
  Child child(words);
  std::vector<Instruction> instructions;
  std::string rest;
  for (std::string_view text = child.read(); !text.empty(); text = child.read()) {
    rest += text;
    size_t begin = 0;
    for (size_t end; (end = rest.find('\n', begin)) != std::string::npos; begin = end + 1)
      if (Instruction instruction; parseInstruction(std::string_view(rest).substr(begin, end - begin), instruction))
        instructions.push_back(std::move(instruction));
    rest.erase(0, begin);
  }
  return instructions;
}

// objdump prints instructions in the order of the file's sections, which may differ from the order of addresses.
std::vector<Instruction> inOrder(std::vector<Instruction> all) {
  const auto by_address = [](const Instruction &left, const Instruction &right) {
    return left.address < right.address;
  };
  if (!std::is_sorted(all.begin(), all.end(), by_address))
    std::stable_sort(all.begin(), all.end(), by_address);
  return all;
}

} // namespace

Result<std::string> findObjdump(const std::string &wanted) {
  if (!wanted.empty()) {
    std::string found = onPath(wanted);
    if (found.empty())
      return fail(fmt::format("there is no program '{}'", wanted), ExitStatus::Usage);
    return found;
  }
  if (const char *set = std::getenv("CMAKE_OBJDUMP"))
    if (std::string found = onPath(set); !found.empty())
      return found;
  for (const char *name : {"objdump", "llvm-objdump", "llvm-objdump-22", "llvm-objdump-19"})
    if (std::string found = onPath(name); !found.empty())
      return found;
  return std::string();
}

std::vector<AddressRange> joined(const std::vector<AddressRange> &ranges) {
  std::vector<AddressRange> runs;
  for (uint64_t near = kNearBytes;; near *= 2) {
    runs.clear();
    for (const AddressRange &range : ranges)
      if (runs.empty() || (range.begin > runs.back().end && range.begin - runs.back().end > near) ||
          (range.begin >= runs.back().end && runs.back().end - runs.back().begin > std::max(kLongBytes, near)))
        runs.push_back(range);
      else
        runs.back().end = std::max(runs.back().end, range.end);
    if (runs.size() <= kMostRuns || near > UINT64_MAX / 4)
      return runs;
  }
}

std::vector<Instruction> disassemble(const std::string &objdump, const std::string &image,
                                     const std::vector<AddressRange> &ranges) {
  const std::vector<AddressRange> runs = joined(ranges);
  if (CodeExtract::pays(image, runs.size()))
    if (const auto extract = CodeExtract::of(image, ranges))
      if (std::vector<Instruction> all = run(objdump, extract->path(), nullptr); !all.empty())
        return inOrder(std::move(all));
  std::vector<std::vector<Instruction>> found(runs.size());
  eachInParallel(runs.size(), [&](size_t i) { found[i] = run(objdump, image, &runs[i]); });
  std::vector<Instruction> all;
  if (!found.empty())
    all = std::move(found.front());
  for (std::vector<Instruction> &part : std::span(found).subspan(std::min<size_t>(found.size(), 1)))
    all.insert(all.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
  return inOrder(std::move(all));
}

bool parseInstruction(std::string_view line, Instruction &instruction) {
  const size_t begin = line.find_first_not_of(' ');
  const size_t colon = line.find(':');
  if (begin == std::string_view::npos || colon == std::string_view::npos || colon <= begin || colon + 1 == line.size())
    return false;
  const char *end = line.data() + colon;
  const auto parsed = std::from_chars(line.data() + begin, end, instruction.address, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end)
    return false;
  instruction.text = line.substr(colon + 1);
  return true;
}

} // namespace msleaks::analysis::profiles
