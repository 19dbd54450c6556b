// Tests which calls of a path share a node with the call around them.
#include "coarse_calls.h"

#include "image.h"
#include "path_nodes.h"
#include "path_tree.h"

#include "msleaks/runtime/path.h"
#include "msleaks/runtime/record.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <vector>

namespace msleaks::runtime {
namespace {

ImageKind kindOf(std::string_view path, uint64_t loader, uint64_t import) {
  abi::ImageDefinition image{};
  image.begin = 0x1000;
  image.end = 0x2000;
  return runtime::kindOf(image, path, loader, import);
}

ImageKind kindAtPath(std::string_view path) { return kindOf(path, 0x500000, 0x600000); }

struct Call {
  ImageKind kind;
  unsigned image; // calls of the same kind and number are in one image
  // NOLINTNEXTLINE(google-explicit-constructor): most calls of a test are in the only image of their kind
  Call(ImageKind kind, unsigned image = 0) : kind(kind), image(image) {}
  bool operator==(const Call &) const = default;
};

// Returns how many nodes a path of these calls gets. The outermost call comes first.
unsigned nodesOf(const std::vector<Call> &calls, size_t import = SIZE_MAX) {
  unsigned nodes = 0;
  Inner inner = Inner::Apart;
  for (size_t i = 0, last = 0; i < calls.size(); ++i) {
    if (calls[i] == calls[last] && sharesNode(inner, calls[i].kind))
      continue;
    inner = innerOf(inner, calls[i].kind, i == import);
    last = i;
    ++nodes;
  }
  return nodes;
}

constexpr ImageKind kOwn = ImageKind::Own, kLibrary = ImageKind::Library, kLibc = ImageKind::Libc,
                    kLoader = ImageKind::Loader, kPython = ImageKind::Interpreter;

} // namespace

TEST(CoarseCalls, KindsComeFromPathAndAddresses) {
  EXPECT_EQ(kindAtPath("/home/u/train"), kOwn);
  EXPECT_EQ(kindAtPath("/home/u/venv/lib/python3.12/site-packages/torch/lib/libtorch_cpu.so"), kLibrary);
  EXPECT_EQ(kindAtPath("/usr/lib/x86_64-linux-gnu/libssl.so.3"), kLibrary);
  EXPECT_EQ(kindAtPath("/lib/x86_64-linux-gnu/libc.so.6"), kLibc);
  EXPECT_EQ(kindOf("/opt/glibc/ld.so", 0x1000, 0), kLoader);
  EXPECT_EQ(kindOf("/home/u/.pyenv/versions/3.12.1/bin/python3.12", 0, 0x1fff), kPython);
  EXPECT_EQ(kindOf("/home/u/embeds-python", 0, 0x1fff), kOwn); // Python is linked into the user's program
  EXPECT_EQ(kindOf("/home/u/train", 0x2000, 0xfff), kOwn);
}

TEST(CoarseCalls, AConstructorOfALibraryIsOneCall) {
  EXPECT_EQ(nodesOf({kOwn, kLibc, kLoader, kLoader, kLibrary, kLibrary, kLibrary}), 5u);
  EXPECT_EQ(nodesOf({kLoader, kLibrary, kLibrary}), 2u); // at the start of the program
}

TEST(CoarseCalls, EachLibraryOfAConstructorIsOneCall) {
  const Call first(kLibrary, 1), second(kLibrary, 2);
  EXPECT_EQ(nodesOf({kLoader, first, first, second, second}), 3u);
  EXPECT_EQ(nodesOf({kLoader, first, second, first, first}), 4u); // the second library calls the first
}

TEST(CoarseCalls, AConstructorOfTheUsersIsWhole) {
  EXPECT_EQ(nodesOf({kOwn, kLibc, kLoader, kOwn, kOwn, kLibrary, kLibrary}), 7u);
  EXPECT_EQ(nodesOf({kLoader, kLibrary, kLibrary, kOwn, kLibrary, kLibrary}), 5u); // a library's calls it
}

TEST(CoarseCalls, LibcAndLoaderStayVisibleInAConstructor) {
  EXPECT_EQ(nodesOf({kLoader, kLibrary, kLibrary, kLibc, kLibc}), 4u);
  EXPECT_EQ(nodesOf({kLoader, kLibrary, kLibc, kLoader, kLibrary, kLibrary}), 5u); // it opens another library
}

TEST(CoarseCalls, OutsideOfConstructorsAndImportsEachCallIsApart) {
  EXPECT_EQ(nodesOf({kOwn, kLibrary, kLibrary, kLibc, kLibrary}), 5u);
  EXPECT_EQ(nodesOf({kPython, kPython, kLibrary, kLibrary, kPython}), 5u);
}

TEST(CoarseCalls, AnImportIsOneCallForEachLibrary) {
  EXPECT_EQ(nodesOf({kPython, kPython, kPython, kPython}, 1), 2u);
  EXPECT_EQ(nodesOf({kPython, kPython, kPython, kLibrary, kLibrary}, 1), 3u);
  EXPECT_EQ(nodesOf({kPython, kPython, kPython, kLibrary, kLibrary, kPython, kPython, kLibrary}, 1), 5u);
  EXPECT_EQ(nodesOf({kPython, kPython, kPython, kOwn, kOwn, kLibrary, kLibrary}, 1), 6u); // the user's own module
}

namespace {

[[gnu::noinline]] uint64_t constructorOfLibrary(uint64_t value) {
  [[maybe_unused]] volatile uint64_t filler = value; // NOLINT(misc-const-correctness): it takes room on the stack
  return filler * 3;
}

// ThreadSanitizer replaces functions of libc by its own, but not this object.
uint64_t addressInLibc() { return reinterpret_cast<uint64_t>(stdout); }

// Makes the image of an address known, with this kind. Returns its number.
uint32_t makeImage(Arena &arena, uint64_t address, ImageKind kind) {
  ImagePlace place{};
  if (!findImage(reinterpret_cast<const void *>(address), place))
    std::abort();
  const uint32_t number = numberOf(arena, place);
  arena.images[number - 1].kind = kind;
  return number;
}

void makeTree() {
  const CallerFrame caller = callerFrame();
  __msl_path(caller.return_address, caller.stack_pointer, caller.frame_pointer, 0);
}

// Whether two calls of a function in a constructor of a library have one node.
bool sharesInConstructor() {
  makeTree();
  Arena &arena = *__msl_process.arena;
  PathTree &tree = *__msl_process.paths;
  const auto function = reinterpret_cast<uint64_t>(&constructorOfLibrary);
  const uint64_t outside = addressInLibc();
  const uint32_t library = makeImage(arena, function, kLibrary), loader = makeImage(arena, outside, kLoader);
  const uint32_t calls = tree.add(arena, abi::kPathBegin, outside + 1, loader);
  return tree.add(arena, calls, function + 2, library) == tree.add(arena, calls, function + 5, library);
}

} // namespace

TEST(CoarseCalls, CallsOfAConstructorHaveTheNodeOfItsFunction) {
  const test::SessionDirectory session;
  EXPECT_EQ(session.runChild([] {
    makeTree();
    Arena &arena = *__msl_process.arena;
    PathTree &tree = *__msl_process.paths;
    const auto function = reinterpret_cast<uint64_t>(&constructorOfLibrary);
    const uint64_t outside = addressInLibc();
    const uint32_t library = makeImage(arena, function, kLibrary), loader = makeImage(arena, outside, kLoader);
    const uint32_t calls = tree.add(arena, abi::kPathBegin, outside + 1, loader);
    const uint32_t first = tree.add(arena, calls, function + 2, library);
    const bool one_node =
        tree.add(arena, calls, function + 5, library) == first && tree.find(calls, function + 5) == first;
    const bool begins = tree.nodeAt(first).address == function + 1 && tree.nodeAt(first).parent == calls;
    const bool shares = tree.isPartOf(first, function + 7) && !tree.isPartOf(calls, function + 7);
    arena.images[loader - 1].kind = kLibrary;
    const bool other_is_apart =
        !tree.isPartOf(first, outside + 1) && !tree.isPartOfImage(first, loader) && tree.isPartOfImage(first, library);
    arena.images[library - 1].kind = kOwn;
    const bool own_is_apart = !tree.isPartOf(first, function + 7);
    const uint32_t direct = tree.add(arena, abi::kPathBegin, function + 2, library);
    const bool apart = direct != tree.add(arena, abi::kPathBegin, function + 5, library);
    _exit(one_node && begins && shares && other_is_apart && own_is_apart && apart ? 0 : 1);
  }),
            0);
}

TEST(CoarseCalls, AnOptionKeepsPathsOfConstructorsWhole) {
  const test::SessionDirectory session;
  EXPECT_EQ(session.runChild([] { _exit(sharesInConstructor() ? 0 : 1); }), 0);
  session.control().flags.import_paths = abi::ImportPaths::Whole;
  EXPECT_EQ(session.runChild([] { _exit(sharesInConstructor() ? 1 : 0); }), 0);
}

TEST(CoarseCalls, AWatchedLineIsFoundInAConstructor) {
  const test::SessionDirectory session;
  session.control().watch.kind = abi::WatchKind::Line;
  EXPECT_EQ(session.runChild([] { _exit(sharesInConstructor() ? 1 : 0); }), 0);
}

TEST(CoarseCalls, InANearlyFullTreeALibraryIsOneCall) {
  const test::SessionDirectory session;
  for (const abi::ImportPaths option : {abi::ImportPaths::Short, abi::ImportPaths::Whole}) {
    session.control().flags.import_paths = option;
    EXPECT_EQ(session.runChild([] {
      makeTree();
      Arena &arena = *__msl_process.arena;
      PathTree &tree = *__msl_process.paths;
      const auto function = reinterpret_cast<uint64_t>(&constructorOfLibrary);
      const uint32_t library = makeImage(arena, function, kLibrary);
      const auto isOne = [&](uint32_t parent) {
        return tree.add(arena, parent, function + 2, library) == tree.add(arena, parent, function + 5, library);
      };
      const bool one_with_room = isOne(abi::kPathBegin);
      arena.header->path_count.store(PathTree::kScarce - 1);
      const bool one_before = isOne(abi::kPathUnknown); // the first call reaches the limit
      const uint32_t outer = tree.add(arena, abi::kPathBegin, keyOfSite(1), abi::kImageOfSite);
      const bool one_when_scarce = isOne(outer);
      arena.images[library - 1].kind = kOwn;
      const uint32_t other = tree.add(arena, abi::kPathBegin, keyOfSite(2), abi::kImageOfSite);
      _exit(!one_with_room && !one_before && one_when_scarce && !isOne(other) ? 0 : 1);
    }),
              0);
  }
}

#if defined(__x86_64__)
TEST(CoarseCalls, ADirectCallShowsItsFunction) {
  const unsigned char code[] = {0xe8, 0x10, 0, 0, 0, 0x90, 0xff, 0xd0, 0x90, 0x90, 0x90};
  const auto behind = reinterpret_cast<uint64_t>(code) + 5;
  EXPECT_TRUE(isCallOf(behind + 0x10, behind));
  EXPECT_FALSE(isCallOf(behind + 0x11, behind));
  EXPECT_FALSE(isCallOf(behind + 0x10, behind + 3)); // call *%rax
}

TEST(CoarseCalls, ACallThroughThePltShowsItsFunction) {
  struct {
    unsigned char call[5] = {0xe8, 3, 0, 0, 0};
    unsigned char filler[3] = {};
    unsigned char entry[11] = {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 5, 0, 0, 0}; // endbr64; bnd jmp *slot
    unsigned char more[5] = {};
    uint64_t slot = 0x123456789;
  } code;
  static_assert(offsetof(decltype(code), slot) == offsetof(decltype(code), entry) + sizeof code.entry + 5);
  const auto behind = reinterpret_cast<uint64_t>(code.call) + sizeof code.call;
  EXPECT_TRUE(isCallOf(0x123456789, behind));
  EXPECT_FALSE(isCallOf(0x123456788, behind));
}
#endif

} // namespace msleaks::runtime
