// Decides which calls have no node of their own in the tree of paths, because the user can do nothing about them.
//
// A library's constructors and destructors, and the modules that Python imports, may allocate on a million different
// paths. Each of these paths is taken once. So the calls inside them get the node of the call around them:
//
//   main > dlopen > ld.so > [a constructor of libtorch > … libtorch] > [operator new of libstdc++] > malloc
//   main > Python > `import` > [Python > Python] > [PyInit__C > … > malloc]
//
// The calls in brackets have one node, and a node has calls of one library only. Calls in the user's own code always
// have their own nodes.
#pragma once

#include "msleaks/abi/definitions.h"
#include "msleaks/abi/system_header.h"

#include <cstdint>
#include <string_view>

namespace msleaks::runtime {

enum class ImageKind : uint8_t {
  Own,         // the user's own code: also instrumented code, in any folder
  Library,     // a library of a distribution or of an installed Python package (abi::isLibraryImage)
  Libc,        // its functions, such as setlocale, must stay visible: the report knows what they keep
  Loader,      // the dynamic linker: it calls constructors and destructors
  Interpreter, // Python's own program or library
};

// Returns the kind of an image that is not instrumented. `loader` is an address in the dynamic linker (AT_BASE), and
// `import` an address in Python's code; 0 = there is none. Python's code may be linked into the user's program.
constexpr ImageKind kindOf(const abi::ImageDefinition &image, std::string_view path, uint64_t loader,
                           uint64_t import) noexcept {
  const auto holds = [&](uint64_t address) { return address != 0 && address >= image.begin && address < image.end; };
  if (holds(loader))
    return ImageKind::Loader;
  if (!abi::isLibraryImage(path))
    return ImageKind::Own;
  if (holds(import))
    return ImageKind::Interpreter;
  return path.ends_with("/libc.so.6") ? ImageKind::Libc : ImageKind::Library;
}

// How the calls inside a call get nodes.
enum class Inner : uint8_t {
  Apart,      // each has its own node
  OfLoader,   // the next call in a library begins a part with one node
  OneLibrary, // calls in the same library have the node of this call; a call in another library begins such a part
  Import,     // calls in the interpreter have the node of this call; a call in a library begins a part with one node
};

// Whether a call has the node of the call around it, if both are in the same image. `kind` is the image's kind.
constexpr bool sharesNode(Inner outer, ImageKind kind) noexcept {
  return (outer == Inner::OneLibrary && kind == ImageKind::Library) ||
         (outer == Inner::Import && kind == ImageKind::Interpreter);
}

// Returns how the calls inside a new node get nodes. `imports` = the call is Python's import of a module.
constexpr Inner innerOf(Inner outer, ImageKind kind, bool imports) noexcept {
  switch (kind) {
  case ImageKind::Own:
    return Inner::Apart;
  case ImageKind::Library:
    return outer == Inner::Apart ? Inner::Apart : Inner::OneLibrary;
  case ImageKind::Libc:
    return outer == Inner::Apart ? Inner::Apart : Inner::OfLoader;
  case ImageKind::Loader:
    return Inner::OfLoader;
  case ImageKind::Interpreter:
    return outer != Inner::Apart || imports ? Inner::Import : Inner::Apart;
  }
  return Inner::Apart;
}

// Whether the instruction before a return address calls `function` directly, or on x86-64 through the PLT. The code
// before the return address must be mapped.
bool isCallOf(uint64_t function, uint64_t return_address) noexcept;

} // namespace msleaks::runtime
