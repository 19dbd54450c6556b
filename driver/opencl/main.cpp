// msleaks-cl compiles the source text of an OpenCL program with the msleaks plugin, so the module has a counted copy of
// each kernel (abi/device_counts.h). The hooks start msleaks-cl when a program calls clBuildProgram
// (hooks/opencl/source.cpp).
//
//   msleaks-cl FORM OPTIONS EXTENSIONS VERSION     FORM: spirv, or bitcode for drivers with cl_khr_spir
//   msleaks-cl translate MODULE.spv MODULE.bc      converts SPIR-V to bitcode for such a driver (PoCL 3)
//
// With the first command line, the source text is read from stdin, and the module is written to stdout. At the end,
// msleaks-cl writes one byte to the pipe at descriptor 3: 1 = the module is complete, 0 = it failed. The reader waits
// for this byte and not for the end of the pipe, since other processes may also have the pipe open. Errors are written
// to stderr.
#include "build_options.h"
#include "scalar_nulls.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace msleaks::driver;
namespace fs = std::filesystem;

namespace {

constexpr int kToldAt = 3;

std::string variable(const char *name, const char *otherwise) {
  const char *value = std::getenv(name);
  return value != nullptr && *value != 0 ? value : otherwise;
}

std::string readAll(int from) {
  std::string text;
  char part[65536];
  for (ssize_t got = read(from, part, sizeof part); got > 0 || (got < 0 && errno == EINTR);
       got = read(from, part, sizeof part))
    if (got > 0)
      text.append(part, static_cast<size_t>(got));
  return text;
}

bool writeAll(int to, const char *bytes, size_t count) {
  while (count > 0) {
    const ssize_t written = write(to, bytes, count);
    if (written < 0 && errno != EINTR)
      return false;
    if (written > 0) {
      bytes += written;
      count -= static_cast<size_t>(written);
    }
  }
  return true;
}

bool writeFile(const fs::path &file, const char *bytes, size_t count) {
  const int to = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool is_written = to >= 0 && writeAll(to, bytes, count);
  return to >= 0 && close(to) == 0 && is_written;
}

std::string readFile(const fs::path &file) {
  const int from = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (from < 0)
    return "";
  const std::string bytes = readAll(from);
  close(from);
  return bytes;
}

// Runs a program with its output on the stderr of msleaks-cl. Returns false if the program cannot be started, or fails.
bool run(std::vector<std::string> words) {
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, 2, 1); // only the module is written to stdout
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    std::fprintf(stderr, "%s: %s\n", arguments[0], std::strerror(error));
    return false;
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool isCommand(const std::string &name) {
  const std::string folders = variable("PATH", "/usr/local/bin:/usr/bin:/bin");
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    if (access((folders.substr(begin, end - begin) + "/" + name).c_str(), X_OK) == 0)
      return true;
    begin = end + 1;
  }
  return false;
}

// A temporary folder. The destructor removes it with all its files.
class Scratch {
public:
  Scratch() {
    std::string name = variable("TMPDIR", "/tmp") + "/msleaks-cl-XXXXXX";
    if (mkdtemp(name.data()) != nullptr)
      path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty())
      fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  const fs::path &path() const { return path_; }

private:
  fs::path path_;
};

fs::path prefix() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
}

// Returns a file name that contains a hash of the text. So the graphs of different programs have different names.
std::string nameOf(std::string_view text) {
  uint32_t hash = 0x811c9dc5;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  char name[32];
  std::snprintf(name, sizeof name, "program-%08x.cl", hash);
  return name;
}

bool compile(const fs::path &folder, const std::string &text, const std::vector<std::string> &options) {
  const std::string name = nameOf(text), plugin = (prefix() / "lib/msleaks/llvm-" MSL_DEFAULT_LLVM "/libMemPass.so");
  if (!writeFile(folder / name, text.data(), text.size())) {
    std::fprintf(stderr, "%s: %s\n", folder.c_str(), std::strerror(errno));
    return false;
  }
  std::vector<std::string> words = {variable("MSLEAKS_CLANG", "clang-" MSL_DEFAULT_LLVM),
                                    "-x",
                                    "cl",
                                    "--target=spirv64",
                                    "-c",
                                    "-g",
                                    "-fpass-plugin=" + plugin,
                                    "-fdebug-prefix-map=" + folder.string() + "/=",
                                    "-I."};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {folder / name, "-o", folder / "module.spv"});
  setenv("MSLEAKS_PASS", "cfg", /*overwrite=*/1);
  return run(words);
}

bool translate(const fs::path &folder, const fs::path &from, const fs::path &to) {
  for (const char *translator : {"llvm-spirv-15", "llvm-spirv-14"}) {
    if (!isCommand(translator))
      continue;
    const std::string bytes = readFile(from);
    std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
    std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
    words = withoutScalarNulls(words);
    if (words.empty()) {
      std::fprintf(stderr, "%s: it is no SPIR-V, or it is cut\n", from.c_str());
      return false;
    }
    const fs::path plain = folder / "plain.spv";
    return writeFile(plain, reinterpret_cast<const char *>(words.data()), words.size() * sizeof words[0]) &&
           run({translator, "-r", plain, "-o", to});
  }
  std::fprintf(stderr,
               "neither llvm-spirv-15 nor llvm-spirv-14 is there; install one, the driver takes no SPIR-V itself\n");
  return false;
}

bool compileFor(std::string_view form, const ClDevice &device, std::string_view options) {
  const Scratch scratch;
  if (scratch.path().empty()) {
    std::fprintf(stderr, "no folder for temporary files: %s\n", std::strerror(errno));
    return false;
  }
  if (!compile(scratch.path(), readAll(0), clangOptions(options, device)))
    return false;
  const bool is_bitcode = form == "bitcode";
  if (is_bitcode && !translate(scratch.path(), scratch.path() / "module.spv", scratch.path() / "module.bc"))
    return false;
  const std::string module = readFile(scratch.path() / (is_bitcode ? "module.bc" : "module.spv"));
  return !module.empty() && writeAll(1, module.data(), module.size());
}

} // namespace

int main(int count, char **arguments) {
  if (count == 4 && std::string_view(arguments[1]) == "translate") {
    const Scratch scratch;
    return translate(scratch.path(), arguments[2], arguments[3]) ? 0 : 1;
  }
  if (count != 5) {
    std::fprintf(stderr, "usage: msleaks-cl translate MODULE.spv MODULE.bc; msleaks-run --cfg uses the other form\n");
    return 2;
  }
  fcntl(kToldAt, F_SETFD, FD_CLOEXEC);
  const bool is_done = compileFor(arguments[1], {arguments[3], arguments[4]}, arguments[2]);
  const char told = is_done ? 1 : 0;
  writeAll(kToldAt, &told, 1);
  return is_done ? 0 : 1;
}
