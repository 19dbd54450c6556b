// All sites of a session. Turns the site number of an event, which means something only within its process, into a
// SiteId that equal sites of all processes share.
#pragma once

#include "analysis/base/result.h"
#include "analysis/places/ancestry.h"
#include "analysis/places/labels.h"
#include "analysis/places/site.h"
#include "analysis/places/site_table.h"
#include "analysis/places/symbolizer.h"
#include "analysis/trace/trace_reader.h"
#include "msleaks/abi/definitions.h"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline places {

class PathIndex;

// The place itself first. Each is a site that has no path of its own.
struct CallPath {
  std::vector<SiteId> calls;
  bool complete = false; // the last one is the first call of its thread
};

class SiteCatalog {
public:
  // `symbolizer` names the callers of hooks, when somebody asks; it outlives the catalog.
  explicit SiteCatalog(Symbolizer &symbolizer);
  ~SiteCatalog();
  SiteCatalog(const SiteCatalog &) = delete;
  SiteCatalog &operator=(const SiteCatalog &) = delete;

  // Everything that a trace defines.
  Result<void> load(const TraceReader &);
  // A process that others may have inherited definitions from; before the first look-up.
  void addProcess(const ProcessStart &);
  // Whole records of a process' definitions (abi/definitions.h). Damage is noted and skipped.
  void addDefinitions(uint32_t process, std::span<const std::byte> records);
  void addCallers(uint32_t process, std::span<const TraceWriter::CallerEntry>);
  // Behind the definitions that they refer to.
  void addPaths(uint32_t process, std::span<const PathEntry>);

  // The site of an event; unknown for a number that nobody defined. Events of one place that different paths led to
  // have different sites.
  SiteId find(uint32_t process, uint32_t number);
  // For each of these sites, in their order, a number that find() has it for. Fewer: one was never found.
  std::vector<SiteNumber> numbersOf(const std::vector<SiteId> &) const;
  // The known facts about its place. A hook's caller gets its function's name now. Valid while the catalog lives.
  const Site &describe(SiteId);
  // The number of the call itself that is the same in every process and run of the same code.
  // Every executable and library that a process of the session has loaded.
  const std::deque<ImageFile> &images() const { return images_; }
  uint64_t stableIdOf(SiteId site) const { return site.index < known_.size() ? sites_[known_[site.index].site].id : 0; }
  // Linkage name of the function that a call calls, when it is not one of instrumented code, which says it itself.
  std::string_view calleeOf(SiteId call);
  // As Symbolizer::variableAt has it.
  const CodePlace &variableAt(const ImageFile &image, uint64_t address) {
    return symbolizer_.variableAt(image, address);
  }
  // The member of a type of this image at an offset, as Symbolizer::memberAt has it. Empty: nobody knows.
  std::string memberAt(std::string_view library, std::string_view type, uint64_t offset) const;
  // Whether the function calls there for its caller only, as xmalloc calls malloc: always, or if what it calls does so.
  enum class Handing : uint8_t { Keeps, Forwards, HandsOut };
  Handing handingOf(const InlineFrame &line) const;
  // The first process that had the image; 0: none.
  uint32_t firstProcessWith(std::string_view library) const;
  // The calls that led to it, and the first of them: the place itself.
  CallPath callPathOf(SiteId) const;
  // The same path call by call, for a caller that may stop early. Paths are one tree: shared outer calls are shared
  // nodes.
  struct PathNode {
    SiteId call;
    uint32_t outer; // the node of the call around it
  };
  uint32_t innermostNodeOf(SiteId) const;
  static bool isNode(uint32_t node); // false: there are no more calls
  PathNode pathNode(uint32_t node) const;
  uint32_t pathNodeCount() const; // nodes are below it
  SiteId innermostCallOf(SiteId) const;
  size_t size() const { return known_.size(); } // SiteId::index is below it
  // The texts that events name: told by the same definitions.
  const Labels &labels() const { return labels_; }
  const std::vector<std::string> &notes() const { return notes_; }

private:
  struct ProcessSites;
  struct Image;

  ProcessSites &sitesOf(uint32_t process);
  void addImage(uint32_t process, std::span<const std::byte> body);
  void addUnit(uint32_t process, std::span<const std::byte> body);
  void addInherited(uint32_t process, std::span<const std::byte> body);
  SiteId findInherited(uint32_t process, uint32_t number);
  SiteId findPath(ProcessSites &, uint32_t number);
  SiteId callerAt(ProcessSites &, uint32_t image, uint64_t address);
  SiteId callAt(ProcessSites &, uint32_t image, uint64_t address); // the same, once asked for
  void addRecord(uint32_t process, abi::DefinitionKind, std::span<const std::byte> body);
  const std::vector<SiteId> *idsOfTable(std::span<const std::byte> table, uint32_t image, uint32_t process);
  SiteId findEqual(const Site &) const;
  SiteId intern(const Site &); // its strings live as long as the catalog
  void name(Site &, const ImageFile &);
  void note(std::string line);

  Symbolizer &symbolizer_;
  // The entries that SiteIds stand for. [0] is unknown.
  struct Known {
    uint32_t site; // in sites_
    uint32_t path; // in paths_
  };
  std::vector<Known> known_;
  std::deque<Site> sites_; // a deque, so that a description stays where it is
  std::unique_ptr<PathIndex> paths_;
  std::optional<uint32_t> paths_of_; // the only process that has told any; 0 = they may be told again
  std::vector<SiteId> path_sites_;   // by number in paths_: the site of events that it led to
  std::unordered_multimap<uint64_t, SiteId> by_key_;
  std::deque<ImageFile> images_; // every different one of the session
  std::map<ImageFile, uint32_t> image_numbers_;
  std::map<std::string, uint32_t, std::less<>> first_process_; // by path of an image
  struct CallerImage {
    uint32_t image; // in images_
    bool named = false;
  };
  std::unordered_map<uint32_t, CallerImage> caller_images_;  // by number in sites_
  std::unordered_map<uint64_t, std::vector<SiteId>> tables_; // by hash of bytes and image
  std::vector<SiteTable> kept_tables_;
  std::set<InlineFrame> wrapper_calls_, forwards_; // of all processes
  std::deque<std::vector<InlineFrame>> chains_;    // of callers
  std::unordered_map<uint32_t, std::unique_ptr<ProcessSites>> processes_;
  Ancestry ancestry_;
  Labels labels_;
  ProcessSites *last_process_ = nullptr; // of the look-up before
  uint32_t last_number_ = 0;
  std::vector<std::string> notes_;
};

} // namespace msleaks::analysis::inline places
