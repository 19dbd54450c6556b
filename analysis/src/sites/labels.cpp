#include "msleaks/analysis/labels.h"

#include "definition_records.h"

#include <cstring>

namespace msleaks::analysis {

Result<void> Labels::load(const TraceReader &reader) {
  return reader.forEachDefinitions(
      [this](uint32_t process, std::span<const std::byte> records) { addDefinitions(process, records); });
}

void Labels::addDefinitions(uint32_t process, std::span<const std::byte> records) {
  forEachDefinition(records, [&](abi::DefinitionKind kind, std::span<const std::byte> body) {
    abi::StringDefinition definition;
    if (kind != abi::DefinitionKind::String || body.size() < sizeof definition)
      return;
    std::memcpy(&definition, body.data(), sizeof definition);
    const auto text = body.subspan(sizeof definition);
    texts_[{process, definition.number}].assign(reinterpret_cast<const char *>(text.data()), text.size());
  });
}

std::optional<std::string_view> Labels::find(uint32_t process, uint64_t number) const {
  const auto found = texts_.find({process, number});
  return found == texts_.end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

} // namespace msleaks::analysis
