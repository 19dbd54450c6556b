#include "analysis/places/site_catalog.h"

#include "analysis/places/definition_records.h"
#include "analysis/places/path_index.h"
#include "analysis/places/path_modules.h"
#include "analysis/places/path_owners.h"
#include "analysis/places/process_sites.h"
#include "msleaks/abi/session.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <utility>
#include <xxhash.h>

namespace msleaks::analysis::inline places {
namespace {

constexpr size_t kMaxNotes = 100;

bool equal(std::span<const InlineFrame> left, std::span<const InlineFrame> right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const auto &a, const auto &b) {
    return a.line == b.line && a.column == b.column && a.function == b.function && a.file == b.file;
  });
}

// Compares sites that have the same id. A damaged file or a collision of ids must not mix up two places.
bool equal(const Site &left, const Site &right) {
  if (left.origin == SiteOrigin::Hook && right.origin == SiteOrigin::Hook) // the name is looked up later
    return left.offset == right.offset && left.library == right.library;
  return left.line == right.line && left.column == right.column && left.origin == right.origin &&
         left.offset == right.offset && left.file == right.file && left.callee == right.callee &&
         left.type == right.type && left.variable == right.variable && left.library == right.library &&
         left.function == right.function && left.module == right.module && equal(left.inlined_at, right.inlined_at);
}

// The key of the index of sites. It contains more than the id: if all rows of a file have the same id, comparing all
// pairs would take too long. It contains only parts of strings, so that a row costs no more than its own bytes.
uint64_t keyOf(const Site &site) {
  uint64_t key[] = {site.id, uint64_t{site.line} << 32 | site.column, site.offset, site.inlined_at.size(), 0};
  for (const std::string_view text : {site.file, site.callee, site.type, site.variable, site.library, site.module})
    key[4] = XXH3_64bits_withSeed(text.data(), std::min<size_t>(text.size(), 64), key[4] + text.size());
  return XXH3_64bits(key, sizeof key);
}

std::string_view textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

// Ends at the first NUL: some writers add a NUL to a path.
std::string_view pathOf(std::span<const std::byte> bytes) {
  const std::string_view text = textOf(bytes);
  return text.substr(0, text.find('\0'));
}

} // namespace

SiteCatalog::SiteCatalog(Symbolizer &symbolizer)
    : symbolizer_(symbolizer), paths_(std::make_unique<PathIndex>()), path_owners_(std::make_unique<PathOwners>(*this)),
      path_modules_(std::make_unique<PathModules>(*this)) {
  sites_.emplace_back();
  known_.push_back({0, PathIndex::kUnknown});
}
SiteCatalog::~SiteCatalog() = default;

Result<void> SiteCatalog::load(const TraceReader &reader) {
  for (const ProcessStart &start : reader.processes())
    addProcess(start);
  MSL_TRY(reader.forEachDefinitions(
      [this](uint32_t process, std::span<const std::byte> records) { addDefinitions(process, records); }));
  MSL_TRY(reader.forEachCallers(
      [this](uint32_t process, std::span<const TraceWriter::CallerEntry> entries) { addCallers(process, entries); }));
  return reader.forEachPaths(
      [this](uint32_t process, std::span<const PathEntry> entries) { addPaths(process, entries); });
}

void SiteCatalog::addProcess(const ProcessStart &start) {
  ancestry_.add(start);
  labels_.addProcess(start);
  if (start.ancestor.pid != 0)
    sitesOf(start.process).inherits = true;
}

SiteCatalog::ProcessSites &SiteCatalog::sitesOf(uint32_t process) {
  auto &sites = processes_[process];
  if (!sites)
    sites = std::make_unique<ProcessSites>();
  return *sites;
}

void SiteCatalog::note(std::string line) {
  if (notes_.size() < kMaxNotes && std::find(notes_.begin(), notes_.end(), line) == notes_.end())
    notes_.push_back(std::move(line));
}

void SiteCatalog::addDefinitions(uint32_t process, std::span<const std::byte> records) {
  const auto end = forEachDefinition(
      records, [&](abi::DefinitionKind kind, std::span<const std::byte> body) { addRecord(process, kind, body); });
  if (end == RecordsEnd::Damaged)
    note(fmt::format("process {}: a definition is damaged; some sites or labels of it are unknown", process));
}

void SiteCatalog::addRecord(uint32_t process, abi::DefinitionKind kind, std::span<const std::byte> body) {
  if (!labels_.addRecord(process, kind, body))
    return note(fmt::format("process {}: a label's or an inherited definition is too short", process));
  switch (kind) {
  case abi::DefinitionKind::Image:
    return addImage(process, body);
  case abi::DefinitionKind::Unit:
    return addUnit(process, body);
  case abi::DefinitionKind::Inherited:
    return addInherited(process, body);
  case abi::DefinitionKind::Note:
    return note(std::string(pathOf(body)));
  case abi::DefinitionKind::PythonCode:
    return addPythonCode(process, body);
  case abi::DefinitionKind::PythonModule:
    return addPythonModule(process, body);
  case abi::DefinitionKind::String:
    return; // a label
  }
  // No code here needs a kind that a newer version has added.
}

void SiteCatalog::addImage(uint32_t process, std::span<const std::byte> body) {
  abi::ImageDefinition image;
  if (body.size() < sizeof image)
    return note(fmt::format("process {}: an image's definition is too short", process));
  std::memcpy(&image, body.data(), sizeof image);
  const size_t id_bytes = std::min<size_t>(image.build_id_bytes, sizeof image.build_id);
  const auto *id = reinterpret_cast<const std::byte *>(image.build_id);
  const ImageFile file{std::string(pathOf(body.subspan(sizeof image))), {id, id + id_bytes}};
  const auto [at, fresh] = image_numbers_.try_emplace(file, static_cast<uint32_t>(images_.size()));
  if (fresh)
    images_.push_back(file);
  const auto [first, alone] = first_process_.try_emplace(file.path, process);
  first->second = std::min(first->second, process);
  ProcessSites &sites = sitesOf(process);
  sites.images.insert_or_assign(image.image, Image{at->second, image.load_bias});
  sites.reloaded |= !sites.loaded.insert(at->second).second;
  sites.calls.clear();
}

void SiteCatalog::addUnit(uint32_t process, std::span<const std::byte> body) {
  abi::UnitDefinition unit;
  if (body.size() < sizeof unit)
    return note(fmt::format("process {}: a unit's definition is too short", process));
  std::memcpy(&unit, body.data(), sizeof unit);
  const auto *ids = idsOfTable(body.subspan(sizeof unit), unit.image, process);
  if (!ids)
    return;
  if (unit.base == 0 || uint64_t{unit.base} + ids->size() > abi::kPathSite)
    return note(fmt::format("process {}: a unit has impossible site numbers, from {}", process, unit.base));
  NumberMap &rows = sitesOf(process).rows;
  for (uint32_t row = 0; row < ids->size(); ++row)
    rows.set(unit.base + row, (*ids)[row]);
}

void SiteCatalog::addPythonCode(uint32_t process, std::span<const std::byte> body) {
  has_python_ = true;
  const std::optional<std::string_view> file = sitesOf(process).python.add(body);
  if (!file)
    return note(fmt::format("process {}: a definition of Python code is damaged", process));
  uint32_t &first = first_process_.try_emplace(std::string(*file), process).first->second;
  first = std::min(first, process);
}

void SiteCatalog::addPythonModule(uint32_t process, std::span<const std::byte> body) {
  if (!sitesOf(process).python.addModule(body))
    note(fmt::format("process {}: a definition of a module of PyTorch is damaged", process));
}

void SiteCatalog::addInherited(uint32_t process, std::span<const std::byte> body) {
  ancestry_.add(process, body);
  sitesOf(process).inherits = true;
}

// If several processes run the same program, their tables are equal. Each table is parsed only once.
const std::vector<SiteId> *SiteCatalog::idsOfTable(std::span<const std::byte> bytes, uint32_t image, uint32_t process) {
  const auto &images = sitesOf(process).images;
  const auto found = images.find(image);
  const uint64_t seed = found == images.end() ? UINT64_MAX : found->second.number;
  const auto [at, fresh] = tables_.try_emplace(XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed));
  if (!fresh)
    return &at->second;
  auto table = SiteTable::read(bytes);
  if (!table) {
    note(fmt::format("process {}: {}", process, table.error().message));
    tables_.erase(at);
    return nullptr;
  }
  kept_tables_.push_back(std::move(*table));
  for (Site site : kept_tables_.back().sites()) {
    if (found != images.end())
      site.library = images_[found->second.number].path;
    at->second.push_back(intern(site));
  }
  const auto wrappers = kept_tables_.back().wrappers();
  wrapper_calls_.insert(wrappers.begin(), wrappers.end());
  const auto forwards = kept_tables_.back().forwards();
  forwards_.insert(forwards.begin(), forwards.end());
  return &at->second;
}

void SiteCatalog::addCallers(uint32_t process, std::span<const TraceWriter::CallerEntry> entries) {
  ProcessSites &sites = sitesOf(process);
  for (const TraceWriter::CallerEntry &entry : entries)
    if (entry.index < abi::kMaxCallers && entry.address != 0)
      sites.callers.set(entry.index, callerAt(sites, entry.image, entry.address));
}

SiteId SiteCatalog::callerAt(ProcessSites &sites, uint32_t image, uint64_t address) {
  Site site;
  site.origin = SiteOrigin::Hook;
  const auto found = sites.images.find(image);
  const bool known = found != sites.images.end();
  site.offset = known ? address - found->second.load_bias : address;
  uint64_t seed = 0;
  if (known) {
    const ImageFile &file = images_[found->second.number];
    site.library = file.path;
    seed = file.build_id.empty() ? XXH3_64bits(file.path.data(), file.path.size())
                                 : XXH3_64bits(file.build_id.data(), file.build_id.size());
  }
  site.id = XXH3_64bits_withSeed(&site.offset, sizeof site.offset, seed);
  const SiteId id = intern(site);
  const uint32_t at = known_[id.index].site;
  if (known)
    caller_images_.try_emplace(at, CallerImage{found->second.number});
  return id;
}

SiteId SiteCatalog::callAt(ProcessSites &sites, uint32_t image, uint64_t address) {
  const auto [known, fresh] = sites.calls.try_emplace(address, image, SiteId{});
  if (!fresh && known->second.first == image)
    return known->second.second;
  known->second = {image, callerAt(sites, image, address)};
  return known->second.second;
}

SiteId SiteCatalog::pythonCallAt(ProcessSites &sites, uint64_t code_and_line) {
  const Site site =
      sites.python.siteOf(static_cast<uint32_t>(code_and_line >> 32), static_cast<uint32_t>(code_and_line));
  return site.origin == SiteOrigin::Unknown ? SiteId{} : intern(site);
}

// Returns the path of calls that Python code has made. The `inside` innermost calls of `native` are inside the
// innermost evaluation of Python code. The calls further out run the interpreter, so the calls of Python code take
// their place.
uint32_t SiteCatalog::joinedPath(uint32_t native, uint32_t python, uint32_t inside) {
  std::vector<SiteId> inner; // innermost first
  for (; PathIndex::isCall(native) && inner.size() < inside; native = (*paths_)[native].parent)
    inner.push_back((*paths_)[native].frame);
  uint32_t joined = python;
  for (size_t i = inner.size(); i-- > 0;)
    joined = paths_->add(joined, inner[i]);
  return joined;
}

// The entry of a parent comes before the entries of its children.
void SiteCatalog::addPaths(uint32_t process, std::span<const PathEntry> entries) {
  ProcessSites &sites = sitesOf(process);
  const bool all_new = paths_of_.value_or(process) == process && !sites.reloaded && !sites.has_joins;
  paths_of_ = all_new ? process : 0;
  const auto known = [&](uint64_t number) {
    return number == abi::kPathBegin     ? PathIndex::kBegin
           : number < sites.paths.size() ? sites.paths[number]
                                         : PathIndex::kUnknown;
  };
  for (const PathEntry &entry : entries) {
    if (entry.number < abi::kFirstPath || entry.number >= abi::kMaxPathBlocks * abi::kPathBlockNodes)
      continue;
    if (entry.number >= sites.paths.size())
      sites.paths.resize(entry.number + 1, PathIndex::kUnknown);
    uint32_t &path = sites.paths[entry.number];
    const uint32_t parent = known(entry.parent);
    if (entry.image == abi::kImageOfJoin) {
      path =
          joinedPath(parent, known(static_cast<uint32_t>(entry.address)), static_cast<uint32_t>(entry.address >> 32));
      sites.has_joins = true;
      continue;
    }
    const SiteId frame = entry.image == abi::kImageOfSite     ? find(process, static_cast<uint32_t>(entry.address))
                         : entry.image == abi::kImageOfPython ? pythonCallAt(sites, entry.address)
                                                              : callAt(sites, entry.image, entry.address);
    const bool is_new = all_new && !sites.has_joins && path == PathIndex::kUnknown;
    path = is_new ? paths_->addNew(parent, frame) : paths_->add(parent, frame);
  }
}

uint32_t SiteCatalog::firstProcessWith(std::string_view library) const {
  const auto first = first_process_.find(library);
  return first == first_process_.end() ? 0 : first->second;
}

SiteCatalog::Handing SiteCatalog::handingOf(const InlineFrame &line) const {
  if (wrapper_calls_.contains(line) || wrapper_calls_.contains({line.function, line.file, 0, 0}))
    return Handing::HandsOut;
  return forwards_.contains(line) ? Handing::Forwards : Handing::Keeps;
}

CallPath SiteCatalog::callPathOf(SiteId id) const {
  CallPath path;
  if (id.index >= known_.size() || !id.known())
    return path;
  uint32_t node = known_[id.index].path;
  if (!PathIndex::isCall(node))
    path.calls.push_back(id);
  for (; PathIndex::isCall(node); node = (*paths_)[node].parent)
    path.calls.push_back((*paths_)[node].frame);
  path.complete = node == PathIndex::kBegin;
  return path;
}

uint32_t SiteCatalog::innermostNodeOf(SiteId id) const {
  return id.index < known_.size() ? known_[id.index].path : PathIndex::kUnknown;
}

bool SiteCatalog::isNode(uint32_t node) { return PathIndex::isCall(node); }
SiteCatalog::PathNode SiteCatalog::pathNode(uint32_t node) const {
  return {(*paths_)[node].frame, (*paths_)[node].parent};
}
uint32_t SiteCatalog::pathNodeCount() const { return static_cast<uint32_t>(paths_->size()); }

SiteId SiteCatalog::innermostCallOf(SiteId id) const {
  const uint32_t node = innermostNodeOf(id);
  return PathIndex::isCall(node) ? (*paths_)[node].frame : id;
}

SiteId SiteCatalog::findEqual(const Site &site) const {
  const auto [begin, end] = by_key_.equal_range(keyOf(site));
  for (auto at = begin; at != end; ++at)
    if (equal(sites_[known_[at->second.index].site], site))
      return at->second;
  return {};
}

SiteId SiteCatalog::intern(const Site &site) {
  if (const SiteId known = findEqual(site); known.known())
    return known;
  const SiteId id{static_cast<uint32_t>(known_.size())};
  known_.push_back({static_cast<uint32_t>(sites_.size()), PathIndex::kUnknown});
  sites_.push_back(site);
  by_key_.emplace(keyOf(site), id);
  return id;
}

std::string SiteCatalog::memberAt(std::string_view library, std::string_view type, uint64_t offset) const {
  const auto image =
      std::find_if(images_.begin(), images_.end(), [&](const ImageFile &file) { return file.path == library; });
  return image == images_.end() ? std::string() : symbolizer_.memberAt(*image, type, offset);
}

// `offset` is the call's return address. The call itself is before it, so looks up the byte before.
void SiteCatalog::name(Site &site, const ImageFile &image) {
  const std::vector<CodePlace> &places = symbolizer_.placesAt(image, site.offset - 1);
  if (places.empty())
    return;
  site.function = places.front().function;
  site.file = places.front().file;
  site.line = places.front().line;
  site.column = places.front().column;
  if (places.size() == 1)
    return;
  std::vector<InlineFrame> &chain = chains_.emplace_back();
  for (size_t i = 1; i < places.size(); ++i)
    chain.push_back({places[i].function, places[i].file, places[i].line, places[i].column});
  site.inlined_at = chain;
}

const Site &SiteCatalog::describe(SiteId id) {
  if (id.index >= known_.size())
    return sites_.front();
  Site &site = sites_[known_[id.index].site];
  if (const auto caller = caller_images_.find(known_[id.index].site);
      caller != caller_images_.end() && !std::exchange(caller->second.named, true))
    name(site, images_[caller->second.image]);
  return site;
}

const Site *SiteCatalog::pythonCallOf(SiteId call) const {
  const Site &site = sites_[call.index < known_.size() ? known_[call.index].site : 0];
  return site.origin == SiteOrigin::Python ? &site : nullptr;
}

std::string_view SiteCatalog::torchComponentOf(SiteId call) {
  const uint32_t at = call.index < known_.size() ? known_[call.index].site : 0;
  const Site &site = sites_[at];
  const auto caller = caller_images_.find(at);
  return caller != caller_images_.end()
             ? std::string_view(symbolizer_.torchComponentAt(images_[caller->second.image], site.offset - 1))
             : std::string_view();
}

std::string_view SiteCatalog::pathOwnerOf(SiteId site) { return path_owners_->of(site); }

std::string_view SiteCatalog::moduleOf(SiteId site) { return path_modules_->of(site); }

std::string_view SiteCatalog::calleeOf(SiteId call) {
  const Site &site = describe(call);
  const auto caller = call.index < known_.size() ? caller_images_.find(known_[call.index].site) : caller_images_.end();
  if (caller == caller_images_.end())
    return site.callee;
  return symbolizer_.calleeAt(images_[caller->second.image], site.offset - 1);
}

} // namespace msleaks::analysis::inline places
