// Writes a live set into a checkpoint, and reads it back (docs/trace-format.md).
#pragma once

#include "analysis/live/live_process.h"
#include "analysis/live/saved_fields.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis::inline live {

// Numbers of sites, labels and cohorts are given while the blocks are written. In the file, their lists come first.
class LiveSet::Saver {
public:
  Saver(const LiveSet &live, uint64_t time_ns) : live_(live), time_ns_(time_ns) {}
  // Returns false if a site has no number.
  bool save(const NumbersOfSites &, ByteWriter &to);

private:
  void saveProcess(const Process &);
  void saveBlocks(const Process &);
  void saveMappings(const Process &);
  void saveParked(const Process &);
  void saveRanges(const Process &);
  void saveSkew(const SkewWindow &);
  void saveBlock(const Block &, uint64_t &last_address);
  void saveMapping(const Mapping &, uint64_t &last_address);
  void saveObjects();
  void saveContexts();
  void saveTimeline();
  ByteWriter cohorts();

  const LiveSet &live_;
  uint64_t time_ns_;
  ByteWriter body_;
  SavedFieldWriter put_{body_};
  Named<CohortId> cohorts_;
  Named<SiteId> sites_;
  Named<LabelId> labels_;
  bool has_other_threads_ = false; // some blocks belong to threads without cohorts of their own
};

class LiveSet::Loader {
public:
  Loader(LiveSet &live, uint64_t time_ns, ByteReader &from) : live_(live), time_ns_(time_ns), from_(from) {}
  // Returns false if the bytes make no sense. Then the set must not be used.
  bool load(const SiteOfNumber &);

private:
  template <class F> void repeat(F &&f) {
    for (uint64_t count = from_.varint(); count > 0 && !from_.failed(); --count)
      f();
  }
  template <class T> T take() {
    T value{};
    visitFields(get_, value);
    return value;
  }
  uint32_t takeNumber();
  [[gnu::noinline]] void expect(bool plausible) {
    if (!plausible)
      from_.fail();
  }
  void loadLabels();
  void loadSites(const SiteOfNumber &);
  void loadCohorts();
  void loadProcess();
  void loadBlocks(Process &);
  void loadMappings(Process &);
  void loadParked(Process &);
  void loadRanges(Process &);
  void loadSkew(SkewWindow &);
  std::optional<Block> loadBlock(const Process &, uint64_t &last_address);
  std::optional<Mapping> loadMapping(const Process &, uint64_t &last_address);
  void noteParents(Process &);
  void loadObjects();
  void loadPieces(const ObjectKey &);
  bool isHolder(const SharedObjects::Holder &, const ObjectKey &, uint64_t begin, uint64_t end);
  void loadContexts();
  void loadTimeline();
  LabelId takeLabel();
  SiteId takeSite();

  LiveSet &live_;
  uint64_t time_ns_;
  ByteReader &from_;
  SavedFieldReader get_{from_};
  std::vector<LabelId> labels_{1};
  std::vector<SiteId> sites_{1};
  std::vector<CohortId> cohorts_{1};
  uint64_t shown_mappings_ = 0; // mappings of shared objects
};

} // namespace msleaks::analysis::inline live
