#include "analysis/compare/place_tree.h"

#include "analysis/base/text.h"
#include "analysis/text/site_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace msleaks::analysis::inline compare {
namespace {

constexpr size_t kChangeColumns = 11, kIndent = 2, kLeastRoom = 20;

// A branch of the tree, or a place at its end.
struct Branch {
  std::string text;
  int64_t change_bytes = 0;
  std::vector<Branch> branches = {};

  Branch &under(const std::string &name) {
    const auto known = std::find_if(branches.begin(), branches.end(), [&](const Branch &b) { return b.text == name; });
    return known != branches.end() ? *known : branches.emplace_back(Branch{name});
  }
};

void sortBranches(Branch &branch) {
  std::stable_sort(branch.branches.begin(), branch.branches.end(),
                   [](const Branch &a, const Branch &b) { return sizeOf(a.change_bytes) > sizeOf(b.change_bytes); });
  for (Branch &inner : branch.branches)
    sortBranches(inner);
}

// By the name of a library: text like "libnet.so.1 0011aabb -> libnet.so.2 ccdd0011".
using Versions = std::map<std::string, std::string>;

Versions versionsOf(const std::vector<EnvironmentChange> &environment) {
  constexpr std::string_view kLibrary = "library ";
  Versions versions;
  for (const EnvironmentChange &change : environment)
    if (change.name.starts_with(kLibrary))
      versions[change.name.substr(kLibrary.size())] = fmt::format(
          "{} -> {}", change.before.empty() ? "none" : change.before, change.after.empty() ? "none" : change.after);
  return versions;
}

std::string placeText(const ComparedPlace &place, size_t room) {
  SiteText site = place.wholeSite();
  site.file = std::string(baseName(site.file)); // the branch shows the whole path
  const auto bytes = [](const std::optional<BlockSum> &sum) { return sum ? bytesText(sum->bytes) : std::string("-"); };
  const std::string figures = fmt::format("  {} -> {}", bytes(place.before), bytes(place.after));
  return placeAndNameOf(site, std::max(room, figures.size() + kLeastRoom) - figures.size()) + figures;
}

void add(Branch &root, const ComparedPlace &place, const Versions &versions, size_t columns) {
  const auto known = versions.find(std::string(libraryName(place.site.library)));
  const bool is_other = known != versions.end();
  std::vector<Branch *> path = {&root};
  const auto descend = [&](const std::string &name) { path.push_back(&path.back()->under(name)); };
  descend(is_other ? "libraries of another version" : "the program, and libraries of the same version");
  descend(printable(is_other                     ? known->second
                    : place.site.library.empty() ? "(unknown library)"
                                                 : baseName(place.site.library)));
  if (!place.site.file.empty())
    descend(printable(place.site.file));
  const size_t before = 2 + kChangeColumns + 2 + kIndent * (path.size() - 1);
  path.back()->branches.push_back(
      {placeText(place, columns > before + kLeastRoom ? columns - before : kLeastRoom), place.changeBytes()});
  for (Branch *branch : path)
    branch->change_bytes += place.changeBytes();
}

void writeBranch(std::ostream &to, const Branch &branch, size_t depth) {
  to << fmt::format("  {:>{}}  {:{}}{}\n", changeText(branch.change_bytes), kChangeColumns, "", depth * kIndent,
                    branch.text);
  for (const Branch &inner : branch.branches)
    writeBranch(to, inner, depth + 1);
}

void writeTree(std::ostream &to, const char *title, const std::vector<const ComparedPlace *> &places,
               const Versions &versions, size_t columns) {
  if (places.empty())
    return;
  Branch root;
  for (const ComparedPlace *place : places)
    add(root, *place, versions, columns);
  sortBranches(root);
  to << fmt::format("  {}: {} in {} place{}\n", title, changeText(root.change_bytes), countText(places.size()),
                    places.size() == 1 ? "" : "s");
  for (const Branch &branch : root.branches)
    writeBranch(to, branch, 0);
}

} // namespace

void writePlaceTrees(std::ostream &to, const ComparedMemory &memory, const std::vector<EnvironmentChange> &environment,
                     size_t columns) {
  std::vector<const ComparedPlace *> grown, shrunk;
  for (const ComparedPlace &place : memory.places)
    if (place.state == PlaceState::Grown || place.state == PlaceState::New)
      grown.push_back(&place);
    else if (place.state == PlaceState::Shrunk || place.state == PlaceState::Gone)
      shrunk.push_back(&place);
  const Versions versions = versionsOf(environment);
  writeTree(to, "Grown and new", grown, versions, columns);
  writeTree(to, "Shrunk and gone", shrunk, versions, columns);
}

} // namespace msleaks::analysis::inline compare
