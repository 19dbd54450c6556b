// All sites of a session. Converts the site number in an event, which is valid only in one process, to a SiteId. Equal
// sites of all processes have the same SiteId.
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
class PathModules;
class PathOwners;

// The calls that led to a site, innermost first. Each of these calls is a site without a path.
struct CallPath {
  std::vector<SiteId> calls;
  bool complete = false; // whether the last call is the first call of its thread
};

class SiteCatalog {
public:
  // `symbolizer` names the callers of hooks on demand. It must outlive the catalog.
  explicit SiteCatalog(Symbolizer &symbolizer);
  ~SiteCatalog();
  SiteCatalog(const SiteCatalog &) = delete;
  SiteCatalog &operator=(const SiteCatalog &) = delete;

  // Reads all definitions of a trace.
  Result<void> load(const TraceReader &);
  // Adds a process from which others may have inherited definitions. Call it before the first look-up.
  void addProcess(const ProcessStart &);
  // Takes whole records of a process' definitions (abi/definitions.h). Notes and skips damage.
  void addDefinitions(uint32_t process, std::span<const std::byte> records);
  void addCallers(uint32_t process, std::span<const TraceWriter::CallerEntry>);
  // Call it after the definitions to which the paths refer have been added.
  void addPaths(uint32_t process, std::span<const PathEntry>);

  // The site of an event, or not known if the number was never defined. If different paths led to the same place, the
  // events have different sites.
  SiteId find(uint32_t process, uint32_t number);
  // Returns for each of these sites, in their order, a number that find() knows. Returns nothing if one has no number.
  std::vector<SiteNumber> numbersOf(const std::vector<SiteId> &) const;
  // Returns what is known about the site's place, and looks up a hook's caller now. Valid while the catalog exists.
  const Site &describe(SiteId);
  // images() lists all executables and libraries that a process of the session has loaded.
  // stableIdOf() returns a number of the call that is the same in every process and run of the same code.
  const std::deque<ImageFile> &images() const { return images_; }
  uint64_t stableIdOf(SiteId site) const { return site.index < known_.size() ? sites_[known_[site.index].site].id : 0; }
  // Linkage name of the called function: from the site table for instrumented code, or else from the symbolizer.
  std::string_view calleeOf(SiteId call);
  // The call, if it is one of Python code; else null.
  const Site *pythonCallOf(SiteId call) const;
  // Like TorchFunctions::componentOf, for the function that contains the call.
  std::string_view torchComponentOf(SiteId call);
  // The owner of blocks that the site's path shows (PathOwners::of). Valid while the catalog exists.
  std::string_view pathOwnerOf(SiteId);
  // The module of PyTorch that the site's path shows (PathModules::of). Valid while the catalog exists.
  std::string_view moduleOf(SiteId);
  // Like Symbolizer::variableAt.
  const CodePlace &variableAt(const ImageFile &image, uint64_t address) {
    return symbolizer_.variableAt(image, address);
  }
  // The member of a type at an offset, as in Symbolizer::memberAt. Empty if it is not known.
  std::string memberAt(std::string_view library, std::string_view type, uint64_t offset) const;
  // Whether a function only hands a call's block to its caller, as xmalloc does. Forwards: if its callee does so.
  enum class Handing : uint8_t { Keeps, Forwards, HandsOut };
  Handing handingOf(const InlineFrame &line) const;
  // The number of the first process that has loaded the image, or 0.
  uint32_t firstProcessWith(std::string_view library) const;
  // Returns the calls that led to the site. The first of them is the place itself.
  CallPath callPathOf(SiteId) const;
  // The same path call by call, for a user that may stop early. All paths are one tree, so paths with equal outer calls
  // share their nodes.
  struct PathNode {
    SiteId call;
    uint32_t outer; // the node of the call around this one
  };
  uint32_t innermostNodeOf(SiteId) const;
  static bool isNode(uint32_t node); // false: there are no more calls
  PathNode pathNode(uint32_t node) const;
  uint32_t pathNodeCount() const; // the numbers of nodes are smaller
  SiteId innermostCallOf(SiteId) const;
  bool hasPython() const { return has_python_; } // whether a process has recorded calls of Python code
  size_t size() const { return known_.size(); }  // SiteId::index is smaller
  // The texts that events name. The same definitions contain them.
  const Labels &labels() const { return labels_; }
  const std::vector<std::string> &notes() const { return notes_; }

private:
  struct ProcessSites;
  struct Image;

  ProcessSites &sitesOf(uint32_t process);
  void addImage(uint32_t process, std::span<const std::byte> body);
  void addUnit(uint32_t process, std::span<const std::byte> body);
  void addPythonCode(uint32_t process, std::span<const std::byte> body);
  void addPythonModule(uint32_t process, std::span<const std::byte> body);
  void addInherited(uint32_t process, std::span<const std::byte> body);
  SiteId findInherited(uint32_t process, uint32_t number);
  SiteId findPath(ProcessSites &, uint32_t number);
  SiteId callerAt(ProcessSites &, uint32_t image, uint64_t address);
  SiteId callAt(ProcessSites &, uint32_t image, uint64_t address); // the same, but remembers results
  SiteId pythonCallAt(ProcessSites &, uint64_t code_and_line);
  uint32_t joinedPath(uint32_t native, uint32_t python, uint32_t inside);
  void addRecord(uint32_t process, abi::DefinitionKind, std::span<const std::byte> body);
  const std::vector<SiteId> *idsOfTable(std::span<const std::byte> table, uint32_t image, uint32_t process);
  SiteId findEqual(const Site &) const;
  SiteId intern(const Site &); // the strings must live as long as the catalog
  void name(Site &, const ImageFile &);
  void note(std::string line);

  Symbolizer &symbolizer_;
  // The entry of a SiteId. [0] means not known.
  struct Known {
    uint32_t site; // index in sites_
    uint32_t path; // node in paths_
  };
  std::vector<Known> known_;
  std::deque<Site> sites_; // a deque, so that descriptions never move
  std::unique_ptr<PathIndex> paths_;
  std::optional<uint32_t> paths_of_; // the only process whose paths were added; 0 = paths may repeat
  std::unique_ptr<PathOwners> path_owners_;
  std::unique_ptr<PathModules> path_modules_;
  std::vector<SiteId> path_sites_; // by node in paths_: the site of events with this path
  std::unordered_multimap<uint64_t, SiteId> by_key_;
  std::deque<ImageFile> images_; // each different image of the session
  std::map<ImageFile, uint32_t> image_numbers_;
  std::map<std::string, uint32_t, std::less<>> first_process_; // by the image's path
  struct CallerImage {
    uint32_t image; // index in images_
    bool named = false;
  };
  std::unordered_map<uint32_t, CallerImage> caller_images_; // by index in sites_
  bool has_python_ = false;
  std::unordered_map<uint64_t, std::vector<SiteId>> tables_; // by a hash of the table's bytes and image
  std::vector<SiteTable> kept_tables_;
  std::set<InlineFrame> wrapper_calls_, forwards_; // of all processes
  std::deque<std::vector<InlineFrame>> chains_;    // inline chains of callers
  std::unordered_map<uint32_t, std::unique_ptr<ProcessSites>> processes_;
  Ancestry ancestry_;
  Labels labels_;
  ProcessSites *last_process_ = nullptr; // the process of the last look-up
  uint32_t last_number_ = 0;
  std::vector<std::string> notes_;
};

} // namespace msleaks::analysis::inline places
