#include "analysis/findings/growing_containers.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace msleaks::analysis::inline findings {
namespace {

constexpr std::string_view kPrefix = "python@items@";
constexpr std::string_view kNumbers[] = {"int", "float", "bool", "complex", "NoneType"},
                           kTexts[] = {"str", "bytes", "bytearray"};

std::string_view takeField(std::string_view &label) {
  const std::string_view field = label.substr(0, label.find('@'));
  label.remove_prefix(std::min(label.size(), field.size() + 1));
  return field;
}

// Only the name of the file, which is the last field, may contain '@'.
GrowingContainer containerOf(std::string_view label) {
  GrowingContainer container;
  label.remove_prefix(kPrefix.size());
  for (std::string *field : {&container.name, &container.function, &container.kind, &container.item_class})
    *field = takeField(label);
  container.file = label;
  return container;
}

template <size_t N> bool isOneOf(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool isTensor(const GrowingContainer &container) {
  return container.item_class == "Tensor" || container.item_class == "Parameter";
}

} // namespace

void GrowingContainers::count(uint32_t process, std::string_view label, uint64_t items, uint64_t step) {
  if (!label.starts_with(kPrefix))
    return;
  Counts &counts = counts_.try_emplace({process, std::string(label)}, Counts{items, step, 0, 0, 0}).first->second;
  counts.last_items = items;
  counts.last_step = step;
  ++counts.times;
}

std::vector<GrowingContainer> GrowingContainers::of(uint32_t process, uint64_t steps, bool of_tensors) const {
  constexpr uint64_t kLeastTimes = 3;
  std::vector<GrowingContainer> list;
  for (auto known = counts_.lower_bound({process, {}}); known != counts_.end() && known->first.first == process;
       ++known) {
    const Counts &counts = known->second;
    GrowingContainer container = containerOf(known->first.second);
    if (container.kind.empty() || counts.times < kLeastTimes || counts.last_step < steps / 2 ||
        counts.last_items <= counts.first_items || isOneOf(kNumbers, container.item_class) ||
        (of_tensors && isOneOf(kTexts, container.item_class)))
      continue;
    container.items_per_step = static_cast<double>(counts.last_items - counts.first_items) /
                               static_cast<double>(counts.last_step - counts.first_step);
    list.push_back(std::move(container));
  }
  if (of_tensors && std::any_of(list.begin(), list.end(), isTensor))
    std::erase_if(list, [](const GrowingContainer &container) { return !isTensor(container); });
  std::stable_sort(list.begin(), list.end(), [](const GrowingContainer &left, const GrowingContainer &right) {
    return left.items_per_step > right.items_per_step;
  });
  return list;
}

std::string sentenceOf(const GrowingContainer &container) {
  return fmt::format("The {} `{}` in `{}` gets {:.3g} {} a step", container.kind, container.name, container.function,
                     container.items_per_step, container.item_class);
}

std::string_view remedyOf(const GrowingContainer &container) {
  const std::string_view item = container.item_class;
  if (isTensor(container))
    return "store `.item()` of a loss, use `torch.no_grad()`, or limit a cache.";
  if (item.ends_with("Error") || item.ends_with("Exception"))
    return "store the text of an exception, since its traceback keeps the variables of each call.";
  if (item == "function" || item == "method")
    return "remove old functions, since each keeps the variables that it uses.";
  return "remove old items, or limit their number.";
}

std::string keptText(const std::vector<GrowingContainer> &containers, std::string_view what) {
  constexpr size_t kMostNamed = 3;
  if (containers.size() == 1)
    return fmt::format("{}, and probably keeps {}", sentenceOf(containers.front()), what);
  std::string names;
  for (size_t i = 0; i < std::min(containers.size(), kMostNamed); ++i) {
    const GrowingContainer &container = containers[i];
    names += fmt::format("{}the {} `{}` in `{}` ({:.3g} {} a step)", i == 0 ? "" : " or ", container.kind,
                         container.name, container.function, container.items_per_step, container.item_class);
  }
  return fmt::format("Probably {} keeps {}", names, what);
}

} // namespace msleaks::analysis::inline findings
