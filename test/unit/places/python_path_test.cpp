// Tests how the calls of Python code get into call paths, and which of them are the user's own.
#include "analysis/places/place.h"
#include "analysis/places/python_code.h"
#include "analysis/places/site_catalog.h"

#include "definition_bytes.h"

#include "msleaks/abi/session.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

using test::bytesOf;
using test::raw;
using test::Records;

constexpr char kPython[] = "/nowhere/bin/python3.11";
constexpr uint32_t kTrain = 1, kModule = 2, kImport = 3, kBackward = 4, kNet = 5,
                   kLayer = 6; // numbers of the code of Python functions

std::string code(uint32_t number, const std::string &file, const std::string &function) {
  return raw(abi::PythonCodeDefinition{number, 1, static_cast<uint32_t>(file.size()), 0}) + file + function;
}

// The process has a Python interpreter at 0x10000 and a library at 0x20000.
class PythonPath : public testing::Test {
protected:
  PythonPath() {
    Records records;
    records.image(1, kPython, 0x10000).image(2, "/usr/lib/libtorch.so", 0x20000);
    records.add(abi::DefinitionKind::PythonCode, code(kTrain, "/home/u/train.py", "Training.step"));
    records.add(abi::DefinitionKind::PythonCode,
                code(kModule, "/usr/lib/python3/dist-packages/torch/nn.py", "forward"));
    records.add(abi::DefinitionKind::PythonCode, code(kImport, "<frozen importlib._bootstrap>", "_find_and_load"));
    records.add(abi::DefinitionKind::PythonCode,
                code(kBackward, "/usr/lib/python3/dist-packages/torch/autograd/__init__.py", "backward"));
    for (const auto &[number, module] : {std::pair{kNet, "Net"}, {kLayer, ".layers.3"}}) {
      records.add(abi::DefinitionKind::PythonCode, code(number, "/p/torch/nn/modules/module.py", "_call_impl"));
      records.add(abi::DefinitionKind::PythonModule, raw(abi::PythonModuleDefinition{number, 0}) + module);
    }
    catalog.addDefinitions(1, bytesOf(records.bytes));
  }

  // The address of a join: the innermost call of Python code, and the number of calls inside the innermost evaluation.
  static uint64_t join(uint64_t python, uint64_t inside) { return inside << 32 | python; }
  static uint64_t line(uint32_t code, uint32_t line) { return uint64_t{code} << 32 | line; }

  // The functions or libraries of the calls, innermost first.
  std::vector<std::string> callsOf(uint32_t node) {
    std::vector<std::string> calls;
    const CallPath path = catalog.callPathOf(catalog.find(1, abi::kPathSite | node));
    for (const SiteId call : path.calls) {
      const Site &site = catalog.describe(call);
      calls.push_back(site.function.empty() ? std::string(site.library)
                                            : fmt::format("{}:{}", site.function, site.line));
    }
    calls.emplace_back(path.complete ? "begin" : "unknown");
    return calls;
  }

  Symbolizer symbolizer;
  SiteCatalog catalog{symbolizer};
};

// The interpreter evaluates code, whose call evaluates code again, which calls the library.
const PathEntry kNative[] = {
    {2, abi::kPathBegin, 1, 0x10010}, {3, 2, 1, 0x10100}, {4, 3, 1, 0x10200}, {5, 4, 2, 0x20030}, {6, 5, 2, 0x20040}};

} // namespace

TEST_F(PythonPath, TakesThePlaceOfTheCallsThatRunTheInterpreter) {
  const PathEntry python[] = {{7, abi::kPathBegin, abi::kImageOfPython, line(kTrain, 60)},
                              {8, 7, abi::kImageOfPython, line(kTrain, 44)},
                              {9, 6, abi::kImageOfJoin, join(8, 2)},
                              {10, 9, abi::kImageOfSite, 1}};
  catalog.addPaths(1, kNative);
  catalog.addPaths(1, python);
  EXPECT_EQ(callsOf(9), (std::vector<std::string>{"/usr/lib/libtorch.so", "/usr/lib/libtorch.so", "Training.step:44",
                                                  "Training.step:60", "begin"}));
  EXPECT_EQ(callsOf(10).size(), 6u); // a site in instrumented code is inside all of these calls
  EXPECT_EQ(callsOf(6).back(), "begin");
  EXPECT_EQ(callsOf(6).size(), 6u) << "the path without Python code stays";
}

TEST_F(PythonPath, EqualPathsAreOneWhateverRanTheInterpreter) {
  const PathEntry more[] = {{7, abi::kPathBegin, abi::kImageOfPython, line(kTrain, 60)},
                            {8, 6, abi::kImageOfJoin, join(7, 2)},
                            {9, 2, 1, 0x10200}, // the same calls of the library, from an outer evaluation
                            {10, 9, 2, 0x20030},
                            {11, 10, 2, 0x20040},
                            {12, 11, abi::kImageOfJoin, join(7, 2)}};
  catalog.addPaths(1, kNative);
  catalog.addPaths(1, more);
  EXPECT_EQ(catalog.find(1, abi::kPathSite | 8), catalog.find(1, abi::kPathSite | 12));
}

TEST_F(PythonPath, ItsPlaceIsTheUsersOwnLine) {
  const PathEntry python[] = {{7, abi::kPathBegin, abi::kImageOfPython, line(kTrain, 60)},
                              {8, 7, abi::kImageOfPython, line(kModule, 5)},
                              {9, 6, abi::kImageOfJoin, join(8, 2)},
                              {10, 7, abi::kImageOfPython, line(kImport, 9)},
                              {11, 6, abi::kImageOfJoin, join(10, 2)}};
  catalog.addPaths(1, kNative);
  catalog.addPaths(1, python);
  Places places(catalog);
  const Place of_step = places.of(catalog.find(1, abi::kPathSite | 9));
  EXPECT_TRUE(of_step.own);
  EXPECT_EQ(catalog.describe(of_step.call).line, 60u) << "the module belongs to an installed package";
  const Place of_import = places.of(catalog.find(1, abi::kPathSite | 11));
  EXPECT_FALSE(of_import.own);
  EXPECT_EQ(catalog.describe(of_import.call).library, "/usr/lib/libtorch.so");
}

TEST_F(PythonPath, HostileNodesAreUnknown) {
  catalog.addDefinitions(1, bytesOf(Records().add(abi::DefinitionKind::PythonCode, "short").bytes));
  catalog.addDefinitions(
      1,
      bytesOf(
          Records().add(abi::DefinitionKind::PythonCode, raw(abi::PythonCodeDefinition{9, 1, 50, 0}) + "short").bytes));
  EXPECT_EQ(catalog.notes().size(), 1u);
  const PathEntry entries[] = {{7, abi::kPathBegin, abi::kImageOfPython, line(77, 60)}, // code that is not defined
                               {8, 7, abi::kImageOfJoin, 8},                            // joins itself
                               {9, 6, abi::kImageOfJoin, join(0, 1000)}};
  catalog.addPaths(1, kNative);
  catalog.addPaths(1, entries);
  EXPECT_EQ(callsOf(7), (std::vector<std::string>{"", "begin"}));
  EXPECT_EQ(callsOf(8), (std::vector<std::string>{"unknown"}));
  EXPECT_EQ(callsOf(9), (std::vector<std::string>{"/usr/lib/libtorch.so", "/usr/lib/libtorch.so", kPython, kPython,
                                                  kPython, "begin"}));
}

TEST(PythonCode, OfPythonAndOfPackagesIsNotTheUsersOwn) {
  for (const char *file : {"/usr/lib/python3.11/json/decoder.py", "/home/u/.pyenv/versions/3.12.1/lib/python3.12/re.py",
                           "/home/u/venv/lib/python3.12/site-packages/torch/optim/sgd.py", "<frozen runpy>"})
    EXPECT_TRUE(abi::isPythonLibrary(file)) << file;
  for (const char *file : {"/home/u/train.py", "train.py", "<string>", "<stdin>", "/home/u/python3.11/own.py"})
    EXPECT_FALSE(abi::isPythonLibrary(file)) << file;
}

TEST_F(PythonPath, ShowsTheOwnerOfABackwardPass) {
  const PathEntry python[] = {{7, abi::kPathBegin, abi::kImageOfPython, line(kTrain, 60)},
                              {8, 7, abi::kImageOfPython, line(kBackward, 200)},
                              {9, 6, abi::kImageOfJoin, join(8, 2)},
                              {10, 6, abi::kImageOfJoin, join(7, 2)}};
  catalog.addPaths(1, kNative);
  catalog.addPaths(1, python);
  EXPECT_EQ(catalog.pathOwnerOf(catalog.find(1, abi::kPathSite | 9)), "pytorch@backward");
  EXPECT_EQ(catalog.pathOwnerOf(catalog.find(1, abi::kPathSite | 10)), "");
  EXPECT_EQ(catalog.pathOwnerOf({}), "");
}

TEST_F(PythonPath, ShowsTheModule) {
  const PathEntry python[] = {{7, abi::kPathBegin, abi::kImageOfPython, line(kTrain, 60)},
                              {8, 7, abi::kImageOfPython, line(kNet, 90)},
                              {9, 8, abi::kImageOfPython, line(kModule, 5)},
                              {10, 9, abi::kImageOfPython, line(kLayer, 90)},
                              {11, 10, abi::kImageOfPython, line(kBackward, 200)},
                              {12, 11, abi::kImageOfPython, line(kLayer, 90)}};
  catalog.addPaths(1, kNative);
  catalog.addPaths(1, python);
  std::vector<PathEntry> joins;
  for (uint32_t node = 7; node <= 12; ++node)
    joins.push_back({node + 10, 6, abi::kImageOfJoin, join(node, 2)});
  catalog.addPaths(1, joins);
  std::vector<std::string> modules;
  for (uint32_t node = 7; node <= 12; ++node)
    modules.emplace_back(catalog.moduleOf(catalog.find(1, abi::kPathSite | (node + 10))));
  EXPECT_EQ(modules, (std::vector<std::string>{"", "Net", "Net", "Net.layers.3", "", "layers.3"}));
  EXPECT_EQ(catalog.moduleOf({}), "");
}

TEST_F(PythonPath, DamagedDefinitionsOfModulesAreNoted) {
  const auto define = [&](const std::string &body) {
    catalog.addDefinitions(1, bytesOf(Records().add(abi::DefinitionKind::PythonModule, body).bytes));
  };
  define("short");
  EXPECT_EQ(catalog.notes().size(), 1u);
  define(raw(abi::PythonModuleDefinition{kTrain, 0}) + "Net");
  EXPECT_EQ(catalog.notes().size(), 1u);
  SiteCatalog other{symbolizer};
  other.addDefinitions(
      1,
      bytesOf(Records().add(abi::DefinitionKind::PythonModule, raw(abi::PythonModuleDefinition{99, 0}) + "Net").bytes));
  EXPECT_EQ(other.notes().size(), 1u) << "the code was not defined";
}

TEST_F(PythonPath, ShowsThatAnImportOwnsBlocks) {
  const PathEntry python[] = {{7, abi::kPathBegin, abi::kImageOfPython, line(kTrain, 60)},
                              {8, 7, abi::kImageOfPython, line(kImport, 44)},
                              {9, 8, abi::kImageOfPython, line(kTrain, 3)},
                              {10, 6, abi::kImageOfJoin, join(8, 2)},
                              {11, 6, abi::kImageOfJoin, join(9, 2)}};
  catalog.addPaths(1, kNative);
  catalog.addPaths(1, python);
  EXPECT_EQ(catalog.pathOwnerOf(catalog.find(1, abi::kPathSite | 10)), "imports");
  EXPECT_EQ(catalog.pathOwnerOf(catalog.find(1, abi::kPathSite | 11)), "") << "the user's own module";
}

} // namespace msleaks::analysis
