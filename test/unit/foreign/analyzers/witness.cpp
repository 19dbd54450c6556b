// An analyzer that reports all data that it received, in tables and findings.
#include "msleaks/analyzer.h"

#include <map>

namespace {

using namespace msleaks::analyzer;

class Witness final : public Analyzer {
public:
  uint32_t eventKinds() const override { return bitOf(EventKind::Step) | bitOf(EventKind::Mark); }
  void onEvent(const Event &event) override {
    if (static_cast<EventKind>(event.kind) == EventKind::Step)
      say("step", fieldOf(event, fields::Step::number), event.time_ns, event.process);
    fieldless_ += fieldOf(event, 1000);
  }
  void onAlloc(const Block &block, Birth birth, uint64_t time_ns) override {
    say("alloc", block.bytes, time_ns, static_cast<uint64_t>(birth));
    last_ = block;
    if (heapOf(block) == Heap::Host)
      shares_[block.group] = {block.group, 0, shares_[block.group].bytes + block.bytes, shares_[block.group].count + 1};
  }
  void onFree(const Block &block, Death death, uint64_t time_ns) override {
    say("free", block.bytes, time_ns, static_cast<uint64_t>(death));
  }
  void onProcessEnd(uint32_t process, Death death, int exit_status, uint64_t) override {
    say("end", process, static_cast<uint64_t>(exit_status), static_cast<uint64_t>(death));
  }
  void conclude(Conclusion &conclusion) override {
    conclusion.add(said_);
    Table places{"places", "Where", {{"place", Unit::Place}, {"number"}, {"process", Unit::Text}}, {}};
    for (const auto &[group, share] : shares_)
      places.rows.push_back({AtSite{conclusion.siteOf(group)},
                             uint64_t{conclusion.place(conclusion.siteOf(group)).number},
                             std::string(conclusion.process(last_.process))});
    conclusion.add(places);
    for (const auto &[group, share] : shares_)
      conclusion.add(Finding{.kind = "seen",
                             .confidence = Confidence::Likely,
                             .shares = {share},
                             .evidence = {{"group", uint64_t{group}}, {"half", 0.5}, {"word", std::string("yes")}},
                             .advice = "Look.",
                             .all_absent = true});
    (void)fieldless_;
  }

private:
  void say(const char *what, uint64_t number, uint64_t time_ns, uint64_t why) {
    said_.rows.push_back({std::string(what), number, time_ns, why});
  }
  Table said_{"said", "What was told", {{"what", Unit::Text}, {"number"}, {"time", Unit::TimeNs}, {"why"}}, {}};
  std::map<uint32_t, Share> shares_;
  Block last_{};
  uint64_t fieldless_ = 0;
};

} // namespace

MSL_ANALYZER(witness, Witness)
