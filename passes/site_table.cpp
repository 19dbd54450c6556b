#include "site_table.h"

#include "msleaks/abi/version.h"

namespace msleaks::passes {
namespace {

template <typename T> std::string bytesOf(const std::vector<T> &values) {
  std::string bytes;
  append(bytes, values.data(), values.size());
  return bytes;
}

} // namespace

SiteTable::SiteTable(std::string_view source, std::string_view producer)
    : source_(strings_.intern(source)), producer_(strings_.intern(producer)) {}

abi::FrameRow SiteTable::frameOf(const SourcePlace &place) {
  return {strings_.intern(place.function), strings_.intern(place.file), place.line, place.column};
}

// Calls that were inlined together have the same chain. Each chain is stored once.
uint32_t SiteTable::addChain(const std::vector<SourcePlace> &chain) {
  std::vector<abi::FrameRow> frames;
  for (const SourcePlace &step : chain)
    frames.push_back(frameOf(step));
  const auto [known, added] = chain_by_bytes_.try_emplace(bytesOf(frames), static_cast<uint32_t>(frames_.size()));
  if (added)
    frames_.insert(frames_.end(), frames.begin(), frames.end());
  return known->second;
}

uint32_t SiteTable::add(const Site &site) {
  abi::SiteRow row{};
  row.id = site.id();
  const abi::FrameRow place = frameOf(site.place);
  row.file = place.file;
  row.line = place.line;
  row.column = place.column;
  row.function = place.function;
  row.callee = strings_.intern(site.callee);
  row.type = strings_.intern(site.type);
  row.variable = strings_.intern(site.variable);
  row.first_frame = addChain(site.inlined_at);
  row.frame_count = static_cast<uint16_t>(site.inlined_at.size());
  row.verb = static_cast<uint8_t>(site.verb);
  row.family = static_cast<uint8_t>(site.family);
  row.heap = static_cast<uint8_t>(site.heap);
  row.flags = site.wants_path ? abi::kForeignPlace : 0;

  std::string bytes;
  append(bytes, &row, 1);
  const auto [known, added] = row_by_bytes_.try_emplace(bytes, static_cast<uint32_t>(rows_.size()));
  if (added)
    rows_.push_back(row);
  return known->second;
}

void SiteTable::setWrappers(const WrapperCalls &calls) {
  first_wrapper_ = static_cast<uint32_t>(frames_.size());
  for (const SourcePlace &place : calls.places())
    frames_.push_back(frameOf(place));
  first_forward_ = static_cast<uint32_t>(frames_.size());
  for (const SourcePlace &place : calls.forwards())
    frames_.push_back(frameOf(place));
}

std::string SiteTable::bytes() const {
  std::string rows;
  append(rows, rows_.data(), rows_.size());
  append(rows, frames_.data(), frames_.size());

  abi::UnitHeader header{};
  header.magic = abi::kUnitMagic;
  header.version = abi::kObjectVersion;
  header.row_count = static_cast<uint32_t>(rows_.size());
  header.row_bytes = sizeof(abi::SiteRow);
  header.frame_bytes = sizeof(abi::FrameRow);
  header.frame_count = static_cast<uint32_t>(frames_.size());
  header.source = source_;
  header.producer = producer_;
  header.first_wrapper = first_wrapper_;
  header.wrapper_count = first_forward_ - first_wrapper_;
  header.forward_count = static_cast<uint32_t>(frames_.size()) - first_forward_;
  return tableOf(header, std::move(rows), strings_);
}

} // namespace msleaks::passes
