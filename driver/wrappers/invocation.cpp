#include "invocation.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace msleaks::driver {
namespace {

using std::string_view;

constexpr string_view kRowsOption = "--msl-rows=";
constexpr string_view kCountOption = "--msl-cfg"; // without a value, or with =REGEX
constexpr string_view kOffOption = "--msl-off";
constexpr string_view kLinkOption = "--msl-link";
constexpr string_view kOwnOptions = "--msl-";

bool contains(string_view text, string_view part) { return text.find(part) != string_view::npos; }

// Whether autoconf, CMake or Meson probes the compiler. A probe must get the plain compiler.
bool isProbeFolder(string_view folder) {
  return contains(folder, "/CMakeFiles/CMakeTmp") || contains(folder, "/CMakeFiles/CMakeScratch/") ||
         contains(folder, "/meson-private/");
}
bool isProbeFile(string_view argument) {
  return argument.starts_with("conftest.") || contains(argument, "/conftest.") || contains(argument, "cmTC_") ||
         contains(argument, "CMakeCCompilerId") || contains(argument, "CMakeCXXCompilerId") ||
         contains(argument, "/meson-private/");
}

// Whether this argument requires plain clang. For example, -cc1 must stay the first argument, so no option can be
// added.
bool leavesPlain(string_view argument) {
  return argument == "-cc1" || argument == "-cc1as" || argument == kOffOption || isProbeFile(argument);
}

// The user's options about the link. Builds often pass -fuse-ld=lld to compilations, too. So a compilation may show
// that lld will link.
struct Link {
  bool lto = false;
  bool lld = false;

  void read(string_view argument) {
    if (argument == "-fno-lto")
      lto = false;
    else if (argument == "-flto" || argument.starts_with("-flto="))
      lto = true;
    else if (argument == kLinkOption)
      lld = true;
    else if (argument.starts_with("-fuse-ld=") || argument.starts_with("--ld-path="))
      lld = contains(argument, "lld");
  }
};

// The user's options about OpenCL. Unless the user names another target, OpenCL is compiled to SPIR-V for
// clCreateProgramWithIL.
struct OpenCl {
  bool is_source = false;
  bool has_target = false;
  bool is_asked = false; // an option of the user names the output's kind, so -c is not added

  void read(string_view argument, string_view before) {
    is_source = is_source || argument == "-xcl" || (argument == "cl" && before == "-x") ||
                (argument.ends_with(".cl") && !argument.starts_with("-") && before != "-o");
    has_target = has_target || argument == "-target" || argument.starts_with("--target=");
    is_asked = is_asked || argument == "-c" || argument == "-S" || argument == "-E" || argument == "-M" ||
               argument == "-MM" || argument == "-fsyntax-only" || argument == "-emit-llvm" ||
               argument == "--version" || argument == "-###";
  }

  void addTo(std::vector<std::string> &words) const {
    if (!is_source)
      return;
    if (!has_target)
      words.emplace_back("--target=spirv64");
    if (!is_asked)
      words.emplace_back("-c");
  }
};

bool isOff(string_view value) { return value == "off" || value == "OFF" || value == "0"; }

// The values of the user's options that begin with --msl-.
struct Own {
  std::vector<std::string> rows;
  std::optional<std::string> counted; // a regular expression; empty: all functions
};

void takeOwn(string_view option, Invocation &invocation, Own &own) {
  if (option.starts_with(kRowsOption) && option.size() > kRowsOption.size())
    own.rows.emplace_back(option.substr(kRowsOption.size()));
  else if (option == kCountOption)
    own.counted = "";
  else if (option.starts_with(kCountOption) && option[kCountOption.size()] == '=')
    own.counted = option.substr(kCountOption.size() + 1);
  else if (option != kOffOption && option != kLinkOption && invocation.mistake.empty())
    invocation.mistake = "unknown option '" + std::string(option) +
                         "'; known are '--msl-rows=<file>', '--msl-cfg', '--msl-cfg=<regular "
                         "expression>', '--msl-link' and '--msl-off'";
}

// Returns the options that the wrapper inserts before the user's arguments. So a later -g option of the user has
// priority. clang ignores these options without a warning if it compiles no file. A rows file becomes a dependency of
// the object.
std::vector<std::string> added(const Invocation &invocation, const Link &link, const std::vector<std::string> &rows) {
  std::vector<std::string> words = {"--start-no-unused-arguments", "-fpass-plugin=" + invocation.plugin, "-g"};
  for (const std::string &file : rows) {
    words.emplace_back("-Xclang");
    words.push_back("-fdepfile-entry=" + file);
  }
  if (link.lld)
    words.push_back("-Wl,--load-pass-plugin=" + invocation.plugin);
  words.emplace_back("--end-no-unused-arguments");
  return words;
}

} // namespace

Invocation understand(string_view compiler, string_view default_llvm, const Surroundings &surroundings,
                      std::span<char *const> arguments) {
  Invocation invocation;
  invocation.llvm = surroundings.llvm.empty() ? std::string(default_llvm) : surroundings.llvm;
  invocation.clang = surroundings.clang.empty() ? std::string(compiler) + "-" + invocation.llvm : surroundings.clang;
  invocation.pass = surroundings.pass;
  bool plain = isOff(surroundings.wrapper) || isProbeFolder(surroundings.folder);
  std::vector<std::string> passed;
  Own own;
  Link link;
  OpenCl opencl;
  string_view before;
  for (const string_view argument : arguments) {
    opencl.read(argument, std::exchange(before, argument));
    plain = plain || leavesPlain(argument);
    link.read(argument);
    if (argument.starts_with(kOwnOptions))
      takeOwn(argument, invocation, own);
    else
      passed.emplace_back(argument);
  }
  if (plain) {
    invocation.arguments = std::move(passed);
    return invocation;
  }
  invocation.plugin = surroundings.prefix + "/lib/msleaks/llvm-" + invocation.llvm + "/libMemPass.so";
  const auto tellPass = [&](const std::string &option) {
    invocation.pass += (invocation.pass.empty() ? "" : ";") + option;
  };
  for (const std::string &file : own.rows)
    tellPass("rows=" + file);
  if (opencl.is_source && !own.counted)
    own.counted = ""; // in kernels, the plugin can only count
  if (own.counted)
    tellPass(own.counted->empty() ? "cfg" : "cfg=" + *own.counted);
  if (link.lto && link.lld)
    tellPass("link");
  invocation.arguments = added(invocation, link, own.rows);
  opencl.addTo(invocation.arguments);
  std::ranges::move(passed, std::back_inserter(invocation.arguments));
  return invocation;
}

} // namespace msleaks::driver
