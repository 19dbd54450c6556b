// The plug-in, the runtime and the analysis use the same rules for code that is not the user's own.
#pragma once

#include <string_view>

namespace msleaks::abi {

// Whether a source file belongs to the compiler or the system. Such a file is below /usr/ or in a folder include/c++.
// /usr/src and /usr/local/src contain sources that users build.
constexpr bool isSystemHeader(std::string_view file) noexcept {
  if (file.find("/include/c++/") != std::string_view::npos)
    return true;
  return file.starts_with("/usr/") && !file.starts_with("/usr/src/") && !file.starts_with("/usr/local/src/");
}

static_assert(isSystemHeader("/usr/include/stdlib.h") && isSystemHeader("/usr/local/include/a.h"));
static_assert(isSystemHeader("/opt/gcc/include/c++/14/vector"));
static_assert(!isSystemHeader("/home/me/usr/a.c") && !isSystemHeader("/usr/src/app/a.c"));
static_assert(!isSystemHeader("/usr/local/src/app/a.c"));

// Whether an image or a source file belongs to a Python package that was installed, by pip or by a distribution.
constexpr bool isInstalledPackage(std::string_view file) noexcept {
  return file.find("/site-packages/") != file.npos || file.find("/dist-packages/") != file.npos;
}

// Whether a source file or an image belongs to a distribution or an installed Python package.
constexpr bool isSystemPath(std::string_view file) noexcept {
  return isSystemHeader(file) || file.starts_with("/lib") || isInstalledPackage(file);
}

static_assert(isSystemPath("/home/me/venv/lib/python3.12/site-packages/torch/include/c10/util/intrusive_ptr.h"));
static_assert(!isSystemPath("/home/me/packages/a.h"));

// Whether the user does not write this file of Python code: it belongs to Python or to an installed package.
constexpr bool isPythonLibrary(std::string_view file) noexcept {
  constexpr std::string_view kFolder = "/lib/python3."; // the standard library, wherever Python is installed
  return file.starts_with("<frozen ") || file.find(kFolder) != file.npos || isSystemPath(file);
}

// Whether an image is a program or library of CPython. pyenv, conda and uv install them in a home directory.
constexpr bool isInterpreter(std::string_view image) noexcept {
  std::string_view name = image; // substr() may throw, and the runtime must not need libstdc++
  if (const size_t slash = image.rfind('/'); slash != image.npos)
    name.remove_prefix(slash + 1);
  if (name.starts_with("libpython") || image.find("/lib-dynload/") != image.npos)
    return true;
  if (!name.starts_with("python"))
    return false;
  name.remove_prefix(std::string_view("python").size());
  return name.find_first_not_of("0123456789.td") == name.npos; // "python3.13t": as its builds are named
}

// Whether nobody builds this image together with the program that it runs in.
constexpr bool isLibraryImage(std::string_view image) noexcept { return isSystemPath(image) || isInterpreter(image); }

} // namespace msleaks::abi
