// msleaks-clang and msleaks-clang++ run clang with the msleaks plugin. A build uses them as CC and CXX. They pass every
// argument to clang, except:
//
//   --msl-rows=FILE          use the allocators of this rows file; objects depend on it (-MD)
//   --msl-cfg[=REGEX]        count the edges of functions whose demangled names match, or of all (see msleaks cfg)
//   --msl-link               this build links with lld: with -flto, the plugin inserts callbacks in the link.
//                            -fuse-ld=lld and --ld-path=…lld have the same meaning
//   --msl-off                run plain clang
//
//   MSLEAKS_LLVM=19          the LLVM version of the clang to run; msleaks must have a plugin for this version
//   MSLEAKS_CLANG=/path      the path of the compiler; its LLVM version must be MSLEAKS_LLVM
//   MSLEAKS_WRAPPER=off      run plain clang
//
// OpenCL is compiled for SPIR-V, unless the arguments name another target, and is not linked. `msleaks-clang -x cl K.cl
// -o K.spv` writes a module for clCreateProgramWithIL, with counted copies of its kernels.
//
// In the probes of autoconf, CMake and Meson, the wrapper runs plain clang. A build calls the wrapper for each file, so
// it starts no shell and no other process than clang.
#include "invocation.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace msleaks::driver;

namespace {

constexpr char kProgram[] = "msleaks-" MSL_COMPILER;
constexpr int kUsage = 2;        // exit status for a plugin that cannot be read, or a mistake in an option
constexpr int kNoCompiler = 127; // exit status of a shell for a missing command

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

std::string parent(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// Returns PREFIX of this program's real path PREFIX/bin/msleaks-clang, with symbolic links resolved.
std::string prefix() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? parent(parent(std::string(path, static_cast<size_t>(length)))) : "..";
}

Surroundings surroundings() {
  char folder[PATH_MAX];
  return {variable("MSLEAKS_LLVM"),
          variable("MSLEAKS_CLANG"),
          variable("MSLEAKS_WRAPPER"),
          variable("MSLEAKS_PASS"),
          getcwd(folder, sizeof folder) ? folder : "",
          prefix()};
}

bool isProgram(const std::string &path) {
  struct stat what;
  return stat(path.c_str(), &what) == 0 && S_ISREG(what.st_mode) && access(path.c_str(), X_OK) == 0;
}

// Returns the path of a command as a shell finds it, or an empty text.
std::string found(const std::string &name) {
  if (name.find('/') != std::string::npos)
    return isProgram(name) ? name : "";
  const std::string folders = variable("PATH");
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string folder = folders.substr(begin, end - begin);
    if (const std::string path = (folder.empty() ? "." : folder) + "/" + name; isProgram(path))
      return path;
    begin = end + 1;
  }
  return "";
}

bool isReadable(const std::string &path) {
  struct stat what;
  return access(path.c_str(), R_OK) == 0 && stat(path.c_str(), &what) == 0 && what.st_size > 0;
}

int fail(int status, const std::string &what) {
  std::fprintf(stderr, "%s: %s\n", kProgram, what.c_str());
  return status;
}

// Replaces this process by the compiler. Returns only if the compiler cannot be started.
int start(const std::string &path, Invocation &invocation) {
  if (!invocation.pass.empty())
    setenv("MSLEAKS_PASS", invocation.pass.c_str(), /*overwrite=*/1);
  std::vector<char *> words = {invocation.clang.data()};
  for (std::string &argument : invocation.arguments)
    words.push_back(argument.data());
  words.push_back(nullptr);
  execvp(path.c_str(), words.data());
  return fail(126, invocation.clang + ": " + std::strerror(errno));
}

} // namespace

int main(int count, char **arguments) {
  Invocation invocation =
      understand(MSL_COMPILER, MSL_DEFAULT_LLVM, surroundings(), {arguments + 1, arguments + (count > 0 ? count : 1)});
  if (!invocation.mistake.empty())
    return fail(kUsage, invocation.mistake);
  const std::string path = found(invocation.clang);
  if (path.empty())
    return fail(kNoCompiler, invocation.clang + ": not found; install it, or name a compiler with MSLEAKS_CLANG");
  if (!invocation.plugin.empty() && !isReadable(invocation.plugin))
    return fail(kUsage, invocation.plugin + ": not readable, or empty; this msleaks has no plugin for LLVM " +
                            invocation.llvm + ", set MSLEAKS_LLVM");
  return start(path, invocation);
}
