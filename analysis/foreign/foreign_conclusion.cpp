#include "analysis/foreign/foreign_conclusion.h"

#include "analysis/findings/keeper.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <span>

namespace msleaks::analysis::inline foreign {
namespace {

std::string textOf(const char *text) { return text == nullptr ? "" : text; }

// Copies a struct that may be longer or shorter, because the analyzer was built with another version of the header.
template <class View> View known(const View *given) {
  View view{};
  std::memcpy(&view, given, std::min<size_t>(given->bytes, sizeof view));
  return view;
}

template <class T> std::span<const T> spanOf(const T *first, uint64_t count) {
  return first == nullptr ? std::span<const T>() : std::span(first, static_cast<size_t>(count));
}

std::optional<Unit> unitOf(analyzer::Unit unit) {
  switch (unit) {
  case analyzer::Unit::Text:
    return Unit::Text;
  case analyzer::Unit::Place:
    return Unit::Place;
  case analyzer::Unit::Count:
    return Unit::Count;
  case analyzer::Unit::Bytes:
    return Unit::Bytes;
  case analyzer::Unit::TimeNs:
    return Unit::TimeNs;
  }
  return {};
}

std::optional<Confidence> confidenceOf(analyzer::Confidence confidence) {
  switch (confidence) {
  case analyzer::Confidence::Proved:
    return Confidence::Proved;
  case analyzer::Confidence::Likely:
    return Confidence::Likely;
  case analyzer::Confidence::Hint:
    return Confidence::Hint;
  }
  return {};
}

bool isOf(const Cell &cell, Unit unit) {
  if (std::holds_alternative<std::monostate>(cell))
    return true;
  if (unit == Unit::Place)
    return std::holds_alternative<std::shared_ptr<const SiteText>>(cell);
  if (unit == Unit::Text)
    return std::holds_alternative<std::string>(cell);
  return std::holds_alternative<uint64_t>(cell) || std::holds_alternative<double>(cell);
}

} // namespace

ForeignConclusion::ForeignConclusion(std::string analyzer, Conclusion &conclusion)
    : analyzer_(std::move(analyzer)), conclusion_(conclusion), host_{} {
  const auto say = [](ForeignConclusion &self, Refusal refusal) -> const char * {
    if (!refusal)
      return nullptr;
    self.refusal_ = std::move(*refusal);
    return self.refusal_.c_str();
  };
  static constexpr auto kSelf = [](void *self) -> ForeignConclusion & {
    return *static_cast<ForeignConclusion *>(self);
  };
  static const auto kSay = say;
  host_.bytes = sizeof host_;
  host_.version = analyzer::kAnalyzerVersion;
  host_.self = this;
  host_.place = [](void *self, uint32_t site) { return kSelf(self).placeOf({kSelf(self).hasSite(site) ? site : 0}); };
  host_.process = [](void *self, uint32_t process) {
    return kSelf(self).keep(kSelf(self).conclusion_.names.process(process));
  };
  host_.thread = [](void *self, uint32_t process, uint32_t thread) {
    return kSelf(self).keep(kSelf(self).conclusion_.names.thread(process, thread));
  };
  host_.label = [](void *self, uint32_t process, uint64_t number) {
    return kSelf(self).keep(std::string(kSelf(self).conclusion_.catalog.labels().textOf(process, number)));
  };
  host_.siteOf = [](void *self, uint32_t group) {
    return kSelf(self).hasGroup(group) ? kSelf(self).conclusion_.cohorts[{group}].site.index : 0;
  };
  host_.addFinding = [](void *self, const analyzer::FindingView *view) {
    return kSay(kSelf(self), kSelf(self).addFinding(known(view)));
  };
  host_.addTable = [](void *self, const analyzer::TableView *view) {
    return kSay(kSelf(self), kSelf(self).addTable(known(view)));
  };
}

const char *ForeignConclusion::keep(std::string text) { return texts_.emplace_back(std::move(text)).c_str(); }

const analyzer::Place *ForeignConclusion::placeOf(SiteId site) {
  const analyzer::Place *&known = places_of_sites_[site.index];
  if (known != nullptr)
    return known;
  const Place place = conclusion_.lines.places().of(site);
  const auto [at, fresh] = places_.try_emplace(place.keyIn(conclusion_.catalog));
  NamedPlace &named = at->second;
  if (fresh) {
    SiteText &text = named.text = analysis::textOf(conclusion_.catalog, place);
    if (text.type.empty())
      text.type = conclusion_.lines.typeOf(site);
    named.place = {static_cast<uint32_t>(places_.size()),
                   place.own,
                   text.line,
                   text.column,
                   text.file.c_str(),
                   text.function.c_str(),
                   text.variable.c_str(),
                   text.type.c_str(),
                   text.library.c_str()};
  }
  return known = &named.place;
}

Account ForeignConclusion::accountOf(uint32_t group) const {
  const Cohort &cohort = conclusion_.cohorts[{group}];
  return {cohort.heap, cohort.device};
}

ForeignConclusion::Refusal ForeignConclusion::wrongGroups(const analyzer::FindingView &view) const {
  const auto shares = spanOf(view.shares, view.share_count);
  if (shares.empty())
    return "a finding is about blocks: it has no shares";
  for (const analyzer::Share &share : shares)
    if (!hasGroup(share.group))
      return fmt::format("a finding has blocks of group {}, which does not exist", share.group);
  const Account account = accountOf(shares.front().group);
  for (const analyzer::Share &share : shares)
    if (accountOf(share.group) != account)
      return "a finding has blocks of several heaps or devices: make one finding for each";
  for (const analyzer::Absent &absent : spanOf(view.absent, view.absent_count))
    if (!hasGroup(absent.group) || accountOf(absent.group) != account)
      return fmt::format("a finding names absent blocks of group {}, which are not in its heap", absent.group);
  return {};
}

Absence ForeignConclusion::absenceOf(const analyzer::FindingView &view) const {
  Absence absence;
  if (view.all_absent != 0) {
    absence.cohorts.resize(conclusion_.cohorts.size());
    for (const analyzer::Share &share : spanOf(view.shares, view.share_count))
      absence.cohorts[share.group] = true;
    return absence;
  }
  for (const analyzer::Absent &absent : spanOf(view.absent, view.absent_count))
    absence.blocks.push_back({{absent.group}, absent.bytes, absent.from_ns});
  return absence;
}

ForeignConclusion::Refusal ForeignConclusion::addFinding(const analyzer::FindingView &view) {
  const auto confidence = confidenceOf(view.confidence);
  if (textOf(view.kind).empty() || !confidence)
    return "a finding has no kind, or an unknown confidence";
  if (Refusal wrong = wrongGroups(view))
    return wrong;
  std::vector<CohortShare> shares;
  for (const analyzer::Share &share : spanOf(view.shares, view.share_count))
    shares.push_back({{share.group}, share.bytes, share.count});
  const auto most =
      std::max_element(shares.begin(), shares.end(), [](const auto &a, const auto &b) { return a.bytes < b.bytes; });
  const SiteId site = conclusion_.cohorts[most->cohort].site;
  const Place place = conclusion_.lines.places().of(site);
  const Keeper keeper = keeperOf(site, place, accountOf(most->cohort.index), conclusion_.catalog);
  // The name of the analyzer tells its kinds apart from our own kinds.
  const std::string kind = fmt::format("{}/{}", analyzer_, view.kind);
  auto draft = draftOf({kind.c_str(), Concern::Memory}, keeper, place, shares, conclusion_);
  draft.line.analyzer = analyzer_;
  draft.line.confidence = *confidence;
  draft.line.advice = textOf(view.advice);
  for (const analyzer::EvidenceView &evidence : spanOf(view.evidence, view.evidence_count)) {
    Cell cell;
    if (Refusal wrong = toCell(evidence.value, cell))
      return wrong;
    const std::string name = textOf(evidence.name);
    if (const auto *number = std::get_if<uint64_t>(&cell))
      draft.line.evidence.emplace_back(name, *number);
    else if (const auto *real = std::get_if<double>(&cell))
      draft.line.evidence.emplace_back(name, *real);
    else if (const auto *text = std::get_if<std::string>(&cell))
      draft.line.evidence.emplace_back(name, *text);
    else
      return fmt::format("evidence `{}` is neither a number nor a text", name);
  }
  findings_.emplace_back(std::move(draft), absenceOf(view));
  return {};
}

ForeignConclusion::Refusal ForeignConclusion::toCell(const analyzer::Value &value, Cell &cell) {
  switch (value.kind) {
  case analyzer::ValueKind::None:
    return {};
  case analyzer::ValueKind::Number:
    cell = value.number;
    return {};
  case analyzer::ValueKind::Real:
    cell = value.real;
    return {};
  case analyzer::ValueKind::Text:
    cell = textOf(value.text);
    return {};
  case analyzer::ValueKind::Site:
    if (!hasSite(value.number))
      return fmt::format("there is no site {}", value.number);
    placeOf({static_cast<uint32_t>(value.number)});
    cell = std::make_shared<const SiteText>(
        places_.at(conclusion_.lines.places().of({static_cast<uint32_t>(value.number)}).keyIn(conclusion_.catalog))
            .text);
    return {};
  }
  return "a value has an unknown kind";
}

ForeignConclusion::Refusal ForeignConclusion::addTable(const analyzer::TableView &view) {
  const std::string name = fmt::format("{}/{}", analyzer_, textOf(view.name));
  const auto refuse = [&](const std::string &why) { return fmt::format("table {}: {}", name, why); };
  Section section{.name = name, .title = textOf(view.title), .columns = {}, .rows = {}, .is_users_own = true};
  for (const analyzer::ColumnView &column : spanOf(view.columns, view.column_count)) {
    const auto unit = unitOf(column.unit);
    if (!unit || textOf(column.name).empty())
      return refuse("a column has no name, or an unknown unit");
    const bool is_key = *unit == Unit::Text || *unit == Unit::Place;
    section.columns.push_back({column.name, *unit, is_key ? Fold::Key : Fold::Sum});
  }
  if (textOf(view.name).empty() || section.title.empty() || section.columns.empty())
    return refuse("it needs a name, a title and a column");
  if (std::any_of(sections_.begin(), sections_.end(), [&](const Section &other) { return other.name == name; }))
    return refuse("another table has this name already");
  const size_t width = section.columns.size();
  const auto cells = spanOf(view.cells, view.row_count * width);
  for (size_t at = 0; at + width <= cells.size(); at += width) {
    std::vector<Cell> &row = section.rows.emplace_back(width);
    for (size_t i = 0; i < width; ++i) {
      if (Refusal wrong = toCell(cells[at + i], row[i]))
        return refuse(*wrong);
      if (!isOf(row[i], section.columns[i].unit))
        return refuse(fmt::format("a value of column {} is not of its unit", section.columns[i].name));
    }
  }
  if (!section.rows.empty())
    sections_.push_back(std::move(section));
  return {};
}

void ForeignConclusion::commit() {
  for (auto &[draft, absence] : findings_)
    conclusion_.add(std::move(draft), std::move(absence));
  for (Section &section : sections_)
    conclusion_.result.sections.push_back(std::move(section));
}

} // namespace msleaks::analysis::inline foreign
