// An analyzer with one fault: a function that fails, or a wrong result. The environment variable FAULT names the fault.
#include "msleaks/analyzer.h"

#include <cstdlib>
#include <string>

namespace {

using namespace msleaks::analyzer;

class Faulty final : public Analyzer {
public:
  Faulty() { failIn("make"); }
  uint32_t eventKinds() const override { return bitOf(EventKind::Step); }
  void onAlloc(const Block &block, Birth, uint64_t) override {
    failIn("alloc");
    if (block.heap == 0)
      share_ = {block.group, 0, 1, 1};
    else
      other_ = {block.group, 0, 1, 1};
  }
  void onFree(const Block &, Death, uint64_t) override { failIn("free"); }
  void onEvent(const Event &) override { failIn("event"); }
  void onProcessEnd(uint32_t, Death, int, uint64_t) override { failIn("end"); }
  void conclude(Conclusion &conclusion) override {
    conclusion.add(Table{"first", "It is gone with the rest", {{"number"}}, {{uint64_t{1}}}});
    conclusion.add(Finding{.kind = "first", .shares = {share_}});
    failIn("conclude");
    if (isFault("number"))
      throw 5;
    if (isFault("no shares"))
      conclusion.add(Finding{.kind = "x"});
    if (isFault("no kind"))
      conclusion.add(Finding{.kind = "", .shares = {share_}});
    if (isFault("wrong group"))
      conclusion.add(Finding{.kind = "x", .shares = {{9999, 0, 1, 1}}});
    if (isFault("two heaps"))
      conclusion.add(Finding{.kind = "x", .shares = {share_, other_}});
    if (isFault("wrong absent"))
      conclusion.add(Finding{.kind = "x", .shares = {share_}, .absent = {{1, 0, 0, 1}}});
    if (isFault("wrong site"))
      conclusion.add(Table{"x", "X", {{"place", Unit::Place}}, {{AtSite{9999}}}});
    if (isFault("wrong unit"))
      conclusion.add(Table{"x", "X", {{"place", Unit::Place}}, {{uint64_t{1}}}});
    if (isFault("short row"))
      conclusion.add(Table{"x", "X", {{"a"}, {"b"}}, {{uint64_t{1}}}});
    if (isFault("no title"))
      conclusion.add(Table{"x", "", {{"a"}}, {{uint64_t{1}}}});
    if (isFault("twice"))
      conclusion.add(Table{"first", "Again", {{"a"}}, {{uint64_t{1}}}});
  }

private:
  static bool isFault(const char *where) {
    return std::getenv("FAULT") != nullptr && std::string(where) == std::getenv("FAULT");
  }
  static void failIn(const char *where) {
    if (isFault(where))
      throw std::runtime_error(std::string("broken in ") + where);
  }
  Share share_{}, other_{};
};

} // namespace

MSL_ANALYZER(faulty, Faulty)
