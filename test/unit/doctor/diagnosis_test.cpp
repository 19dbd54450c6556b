// Tests the diagnoses of `msleaks doctor` for simulated processes. A test defines the images of a process, and the
// words that the dynamic linker has filled in.
#include "analysis/second_run/diagnosis.h"

#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <map>

namespace msleaks::analysis {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Visibility = LibraryFile::Visibility;

constexpr uint64_t kProgram = 0x1000000, kLibrary = 0x2000000, kHooks = 0x3000000, kLibc = 0x4000000,
                   kDriver = 0x5000000, kBytes = 0x10000;
constexpr uint64_t kSlot = 0x100, kFunction = 0x800;

class DiagnosisTest : public testing::Test {
protected:
  DiagnosisTest() {
    addImage(kProgram, "/bin/program").is_program = true;
    program->is_program = program->has_loader = true;
    addImage(kLibrary, "/lib/liba.so");
    addImage(kHooks, "/lib/libmsleaks_hooks.so");
    addImage(kLibc, "/lib/libc.so.6");
    view.has_hooks = true;
    view.word = [this](uint64_t address) -> std::optional<uint64_t> {
      const auto known = words.find(address);
      return known != words.end() ? std::optional(known->second) : std::nullopt;
    };
  }

  Image &addImage(uint64_t begin, const std::string &path) {
    auto file = std::make_shared<LibraryFile>();
    (begin == kProgram ? program : begin == kLibrary ? library : other) = file;
    view.images.push_back({path, begin, begin + kBytes, begin, file});
    return view.images.back();
  }

  // Makes the library refer to a function. The slot (the word that the dynamic linker fills in) contains `value`.
  void asks(const std::string &symbol, uint64_t value) {
    const uint64_t slot = kSlot + 8 * library->slots.size();
    library->slots.push_back({symbol, slot});
    library->imports.push_back(symbol);
    words[kLibrary + slot] = value;
  }

  LibraryDiagnosis diagnosisOf(const std::string &path) const {
    for (LibraryDiagnosis &found :
         diagnose(view, HookedSymbols({"malloc", "free", "_Znwm", "cudaMalloc", "hipMalloc"})))
      if (found.path == path)
        return found;
    return {};
  }
  LibraryDiagnosis ofLibrary() const { return diagnosisOf("/lib/liba.so"); }
  Reason reasonOfLibrary() const {
    const LibraryDiagnosis found = ofLibrary();
    EXPECT_EQ(found.unseen.size(), 1u);
    return found.unseen.empty() ? Reason::Unreadable : found.unseen.begin()->kind;
  }

  ProcessView view;
  std::map<uint64_t, uint64_t> words;
  std::shared_ptr<LibraryFile> program, library, other;
};

TEST_F(DiagnosisTest, Hooked) {
  asks("malloc", kHooks + kFunction);
  EXPECT_THAT(ofLibrary().hooked, ElementsAre("malloc"));
  EXPECT_THAT(ofLibrary().unseen, IsEmpty());
  EXPECT_EQ(diagnosisOf("/lib/libmsleaks_hooks.so").path, "") << "our own are not listed";
}

// A driver of a later version has functions that are in no list.
TEST_F(DiagnosisTest, FunctionsOfADriver) {
  addImage(kDriver, "/lib/libcudart.so.13");
  for (const char *name : {"cudaMalloc", "cudaGetDevice", "cudaGraphicsMapResources", "cudaMemcpyOfLaterVersion",
                           "cudaSetOfLaterVersion", "fatMalloc"})
    other->definitions[name] = {kFunction, Visibility::Exported};
  other->definitions["cudaMallocInside"] = {kFunction, Visibility::Local};
  const auto driver = diagnosisOf("/lib/libcudart.so.13").driver;
  ASSERT_TRUE(driver.has_value());
  EXPECT_EQ(driver->exported, 5u);
  EXPECT_EQ(driver->hooked, 1u);
  EXPECT_THAT(driver->unknown, ElementsAre("cudaMemcpyOfLaterVersion"));
  EXPECT_FALSE(ofLibrary().driver.has_value());
}

// The lists are embedded: none of the functions below a reason is unknown.
TEST_F(DiagnosisTest, ListedFunctionsAreKnown) {
  addImage(kDriver, "/lib/libOpenCL.so.1");
  for (const char *name :
       {"cuMemBatchDecompressAsync_ptsz", "hipMemMapArrayAsync", "clSVMAllocARM", "clEnqueueSVMMapARM"})
    other->definitions[name] = {kFunction, Visibility::Exported};
  EXPECT_THAT(diagnosisOf("/lib/libOpenCL.so.1").driver->unknown, IsEmpty());
}

TEST_F(DiagnosisTest, PastTheHook) {
  asks("malloc", kLibc + kFunction);
  EXPECT_EQ(reasonOfLibrary(), Reason::DeepBind);
  EXPECT_THAT(ofLibrary().hooked, IsEmpty());
  EXPECT_THAT(ofLibrary().unseen.begin()->reason, HasSubstr("libc.so.6"));
}

TEST_F(DiagnosisTest, ToTheProgram) {
  program->definitions["malloc"] = {kFunction, Visibility::Exported};
  asks("malloc", kProgram + kFunction);
  EXPECT_EQ(reasonOfLibrary(), Reason::Before);
}

// A program at a fixed address uses the address of malloc. So the dynamic linker resolves malloc in all other images to
// the program's stub. The diagnosis must follow the stub to the function that it calls.
TEST_F(DiagnosisTest, ThroughTheProgramsStub) {
  program->entries["malloc"] = kFunction;
  program->slots.push_back({"malloc", kSlot});
  asks("malloc", kProgram + kFunction);
  words[kProgram + kSlot] = kHooks + kFunction;
  EXPECT_THAT(ofLibrary().hooked, ElementsAre("malloc"));
  words[kProgram + kSlot] = kLibc + kFunction;
  EXPECT_EQ(reasonOfLibrary(), Reason::DeepBind);
}

TEST_F(DiagnosisTest, NobodyCalledItYet) {
  asks("malloc", kLibrary + 0x20); // the slot refers to the library's own stub, which calls the dynamic linker
  EXPECT_THAT(ofLibrary().hooked, ElementsAre("malloc"));
  program->definitions["malloc"] = {kFunction, Visibility::Exported};
  EXPECT_EQ(reasonOfLibrary(), Reason::Before) << "that is who it will find";
  program->definitions.clear();
  asks("free", kLibc + kFunction);
  EXPECT_EQ(ofLibrary().unseen.size(), 2u) << "it begins to look in its own libraries";
}

TEST_F(DiagnosisTest, NobodyHasIt) {
  asks("cudaMallocArray", 0); // a weak symbol that no image defines
  EXPECT_THAT(ofLibrary().unseen, IsEmpty());
}

TEST_F(DiagnosisTest, CodeOfNobody) {
  asks("malloc", 0x9000000);
  EXPECT_EQ(reasonOfLibrary(), Reason::Before);
}

TEST_F(DiagnosisTest, ItsOwn) {
  struct Case {
    LibraryFile::Definition definition;
    bool is_symbolic;
    Reason reason;
  };
  for (const Case &given : {Case{{kFunction, Visibility::Local}, false, Reason::Hidden},
                            Case{{kFunction, Visibility::Protected}, false, Reason::Protected},
                            Case{{kFunction, Visibility::Exported}, true, Reason::Symbolic},
                            Case{{kFunction, Visibility::Exported, true}, false, Reason::BoundAtLink}}) {
    library->definitions["malloc"] = given.definition;
    library->is_symbolic = given.is_symbolic;
    EXPECT_EQ(reasonOfLibrary(), given.reason);
  }
}

TEST_F(DiagnosisTest, AnAllocatorBehindTheHooksMayCallItself) {
  library->definitions["malloc"] = {kFunction, Visibility::Exported};
  library->definitions["_Znwm"] = {kFunction + 16, Visibility::Exported, true};
  library->definitions["mallctl"] = {kFunction + 32, Visibility::Exported};
  library->imports = {"sbrk"};
  EXPECT_THAT(ofLibrary().unseen, IsEmpty());
  EXPECT_EQ(ofLibrary().allocator, "jemalloc");
  EXPECT_THAT(ofLibrary().notes, Contains(HasSubstr("the hooks call its malloc")));
}

TEST_F(DiagnosisTest, StaticRuntimes) {
  library->definitions["cudaMalloc"] = {kFunction, Visibility::Local};
  EXPECT_THAT(ofLibrary().unseen, IsEmpty()) << "its driver is hooked";
  EXPECT_THAT(ofLibrary().notes, Contains(HasSubstr("libcuda")));
  library->definitions["hipMalloc"] = {kFunction, Visibility::Local};
  EXPECT_EQ(reasonOfLibrary(), Reason::StaticRuntime);
}

TEST_F(DiagnosisTest, TheStaticCppLibraryAsksMalloc) {
  library->definitions["_Znwm"] = {kFunction, Visibility::Local};
  library->definitions["_ZSt15get_new_handlerv"] = {kFunction + 16, Visibility::Local};
  asks("malloc", kHooks + kFunction);
  EXPECT_THAT(ofLibrary().unseen, IsEmpty());
  words[kLibrary + kSlot] = kLibc + kFunction;
  EXPECT_EQ(ofLibrary().unseen.size(), 2u) << "where malloc is not seen, operator new is not either";
}

TEST_F(DiagnosisTest, WhatThePluginCompiledIsRecorded) {
  library->is_instrumented = true;
  library->producers = {"MemPass 0.1.0 LLVM 19.1.7", "MemPass 0.1.0 LLVM 22.1.8"};
  asks("malloc", kLibc + kFunction);
  asks("sbrk", kLibc + kFunction);
  const LibraryDiagnosis found = ofLibrary();
  EXPECT_THAT(found.llvm, ElementsAre("19.1.7", "22.1.8"));
  EXPECT_THAT(found.notes, Contains(HasSubstr("is still recorded")));
  ASSERT_EQ(found.unseen.size(), 1u) << "the plugin knows as much of sbrk as a hook does";
  EXPECT_EQ(found.unseen.begin()->symbol, "sbrk");
}

TEST_F(DiagnosisTest, TheSystemIsNeverUnseen) {
  const auto libc = std::const_pointer_cast<LibraryFile>(view.images.back().file);
  libc->slots = {{"malloc", kSlot}, {"free", kSlot + 8}};
  libc->imports = {"sbrk"};
  libc->definitions["malloc"] = {kFunction, Visibility::Exported, true};
  words[kLibc + kSlot] = kHooks + kFunction;
  words[kLibc + kSlot + 8] = kLibc + kFunction;
  EXPECT_THAT(diagnosisOf("/lib/libc.so.6").unseen, IsEmpty());
  EXPECT_THAT(diagnosisOf("/lib/libc.so.6").hooked, ElementsAre("malloc"));
}

TEST_F(DiagnosisTest, WithoutHooks) {
  view.has_hooks = false;
  asks("malloc", kLibc + kFunction);
  EXPECT_EQ(reasonOfLibrary(), Reason::NotInherited);
  view.preload = "/opt/lib/libmsleaks_hooks.so";
  EXPECT_EQ(reasonOfLibrary(), Reason::NotLoaded);
  library->is_32bit = true;
  EXPECT_EQ(reasonOfLibrary(), Reason::OtherWidth);
  library->is_instrumented = true;
  EXPECT_EQ(reasonOfLibrary(), Reason::OtherWidth) << "nobody arms it";
}

TEST_F(DiagnosisTest, AFileThatIsGone) {
  view.images[1].file = nullptr;
  view.images[1].why = "it was deleted";
  EXPECT_EQ(reasonOfLibrary(), Reason::Unreadable);
  EXPECT_THAT(ofLibrary().unseen.begin()->reason, HasSubstr("deleted"));
}

TEST_F(DiagnosisTest, SeveralProcessesAreOneAnswer) {
  asks("malloc", kHooks + kFunction);
  LibraryDiagnosis sum = ofLibrary();
  words[kLibrary + kSlot] = kLibc + kFunction;
  sum.add(ofLibrary());
  EXPECT_THAT(sum.hooked, ElementsAre("malloc"));
  EXPECT_EQ(sum.unseen.size(), 1u);
}

TEST(Vocabulary, Names) {
  for (const char *name :
       {"cudaMallocArray", "cuMemCreate", "hipModuleLaunchKernel", "clDeviceMemAllocINTEL", "aclrtMallocPhysical"})
    EXPECT_NE(driverFunction(name), nullptr) << name;
  for (const char *name :
       {"cudaMemGetInfo", "cudaLaunchHostFunc", "cuMemFree_v2", "clCreateKernel", "my_cudaMalloc", "malloc", ""})
    EXPECT_EQ(driverFunction(name), nullptr) << name;
  EXPECT_STREQ(allocatorCalledBy("mi_heap_malloc"), "mimalloc");
  EXPECT_EQ(allocatorCalledBy("mi_free"), nullptr);
  EXPECT_EQ(roleOf("/usr/lib/libcudart.so.12.1"), Role::Driver);
  EXPECT_EQ(roleOf("/usr/lib/libc.so.6"), Role::System);
  EXPECT_EQ(roleOf("/usr/lib/libcrypto.so.3"), Role::Ordinary);
}

TEST(Reasons, EachHasWordsAndIsInTheDocument) {
  std::ifstream document(MSL_TEST_DOCUMENT);
  const std::string text{std::istreambuf_iterator<char>(document), {}};
  for (const Reason reason : {
#define MSL_REASON(name, text, reason, remedy) Reason::name,
#include "analysis/second_run/reasons.def"
       }) {
    const UnseenFunction function = unseenFor("malloc", reason, "something");
    EXPECT_THAT(text, HasSubstr("`" + std::string(nameOf(reason)) + "`"));
    EXPECT_FALSE(function.reason.empty() || function.remedy.empty());
    EXPECT_EQ(function.reason.find_first_of("{}"), std::string::npos) << function.reason;
  }
}

TEST(Vocabulary, OurHooks) {
  const auto hooked = HookedSymbols::of(MSL_HOOKS_LIBRARY, {});
  ASSERT_TRUE(hooked) << hooked.error().message;
  for (const char *name : {"malloc", "_Znwm", "mmap", "cudaMalloc", "clCreateImage", "halMemAlloc"})
    EXPECT_TRUE(hooked->holds(name)) << name;
  for (const char *name : {"execve", "dlsym", "sbrk", "cudaGraphicsMapResources"})
    EXPECT_FALSE(hooked->holds(name)) << name;
}

} // namespace
} // namespace msleaks::analysis
