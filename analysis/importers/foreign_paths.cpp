#include "analysis/importers/foreign_paths.h"

#include "msleaks/abi/definitions.h"
#include "msleaks/abi/events.h"
#include "msleaks/abi/session.h"
#include "msleaks/abi/site_table.h"

#include <algorithm>
#include <charconv>
#include <ranges>
#include <span>

namespace msleaks::analysis::inline importers {
namespace {

constexpr uint64_t kFirstMadeUpAddress = uint64_t{1} << 40, kBytesOfCall = 16;
constexpr size_t kMostTextBytes = 64 << 10; // of a name; a longer one is cut

template <class Body>
void addRecord(std::string &records, abi::DefinitionKind kind, const Body &fixed, std::string_view text) {
  std::string body(reinterpret_cast<const char *>(&fixed), sizeof fixed);
  body += text;
  const abi::DefinitionHeader header{abi::kDefinitionMagic, kind, static_cast<uint32_t>(body.size()),
                                     abi::fnv1a32(reinterpret_cast<const unsigned char *>(body.data()), body.size())};
  records.append(reinterpret_cast<const char *>(&header), sizeof header);
  records += body;
  records.resize((records.size() + 7) & ~size_t{7});
}

// Splits "name:12" at its last colon. Without a number, the line is 0.
std::pair<std::string_view, uint32_t> fileAndLine(std::string_view text) {
  const size_t colon = text.rfind(':');
  uint32_t line = 0;
  if (colon == std::string_view::npos)
    return {text, 0};
  const auto [end, failed] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), line);
  return failed == std::errc() && end == text.data() + text.size() ? std::pair(text.substr(0, colon), line)
                                                                   : std::pair(text, 0u);
}

// Reads "library(function+0x12) file:7" or "library(function+0x12) [0x7f12]". Any other text is the function.
ForeignCall nativeCallIn(std::string_view line) {
  ForeignCall call;
  const size_t open = line.find('('), close = line.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    call.function = line;
    return call;
  }
  call.library = line.substr(0, open);
  call.function = line.substr(open + 1, close - open - 1);
  const std::string_view rest = line.substr(close + 1);
  if (rest.starts_with(' ') && !rest.starts_with(" ["))
    std::tie(call.file, call.line) = fileAndLine(rest.substr(1));
  if (const size_t plus = call.function.rfind("+0x"); plus != std::string_view::npos) {
    const std::string_view digits = call.function.substr(plus + 3);
    std::from_chars(digits.data(), digits.data() + digits.size(), call.offset, 16);
    call.function = call.function.substr(0, plus);
  }
  return call;
}

// Reads "file(12): function".
ForeignCall pythonCallIn(std::string_view line) {
  ForeignCall call;
  call.is_python = true;
  call.function = call.file = line;
  const size_t colon = line.find("): "), open = line.rfind('(', colon);
  if (colon != std::string_view::npos && open != std::string_view::npos) {
    call.file = line.substr(0, open);
    call.function = line.substr(colon + 3);
    std::from_chars(line.data() + open + 1, line.data() + colon, call.line);
  }
  return call;
}

std::vector<std::string_view> linesOf(std::string_view stack) {
  std::vector<std::string_view> lines;
  while (!stack.empty() && lines.size() < abi::kMaxPathDepth) {
    const size_t end = std::min(stack.find('\n'), stack.size());
    if (end != 0 && stack.substr(0, end) != "NA" && stack.substr(0, end) != "N/A")
      lines.push_back(stack.substr(0, end));
    stack.remove_prefix(std::min(end + 1, stack.size()));
  }
  return lines;
}

} // namespace

uint64_t ForeignPaths::labelOf(std::string_view text) {
  text = text.substr(0, abi::kMaxLabelBytes);
  if (const auto found = labels_.find(text); found != labels_.end())
    return found->second;
  if (text.empty() || labels_.size() == abi::kMaxLabels)
    return text.empty() ? 0 : uint64_t{abi::kOtherLabel};
  const uint64_t number = labels_.emplace(text, labels_.size() + 1).first->second;
  addRecord(records_, abi::DefinitionKind::String, abi::StringDefinition{static_cast<uint32_t>(number), 0}, text);
  return number;
}

ForeignPaths::Frame ForeignPaths::pythonFrameOf(const ForeignCall &call) {
  const std::string_view file = call.file.substr(0, abi::kMaxPythonFileBytes),
                         function = call.function.substr(0, abi::kMaxPythonNameBytes);
  const std::string key = std::string(file) + '\n' + std::string(function);
  const auto [found, is_new] = codes_.try_emplace(key, static_cast<uint32_t>(codes_.size() + 1));
  if (is_new)
    addRecord(records_, abi::DefinitionKind::PythonCode,
              abi::PythonCodeDefinition{found->second, 0, static_cast<uint32_t>(file.size()), 0},
              std::string(file) + std::string(function));
  return {abi::kImageOfPython, uint64_t{found->second} << 32 | call.line};
}

// Each call has an address of its own, so that it has a name of its own. Inlined calls share their offset.
ForeignPaths::Frame ForeignPaths::nativeFrameOf(const ForeignCall &call) {
  const auto [image, is_new] =
      images_.try_emplace(std::string(call.library), static_cast<uint32_t>(images_.size() + 1));
  if (is_new) {
    abi::ImageDefinition definition{};
    definition.image = image->second;
    addRecord(records_, abi::DefinitionKind::Image, definition, call.library);
  }
  Frame frame{image->second, call.offset};
  if (frame.address == 0 || frame.address >= kFirstMadeUpAddress || !taken_.insert(frame).second)
    taken_.insert(frame = {image->second, kFirstMadeUpAddress * process_ + kBytesOfCall * (frames_.size() + 1)});
  if (!call.function.empty() || !call.file.empty()) {
    const uint64_t called_at = frame.address - 1; // as for a return address
    names_[image->first].push_back(
        {called_at, {{std::string(call.function), std::string(call.file), call.line, 0}}, {}});
  }
  return frame;
}

ForeignPaths::Frame ForeignPaths::frameOf(const ForeignCall &whole) {
  ForeignCall call = whole;
  for (std::string_view *text : {&call.function, &call.file, &call.library})
    *text = text->substr(0, kMostTextBytes);
  CallKey key{call.is_python, std::string(call.function), std::string(call.file), std::string(call.library), call.line,
              call.offset};
  if (const auto found = frames_.find(key); found != frames_.end())
    return found->second;
  return frames_[std::move(key)] = call.is_python ? pythonFrameOf(call) : nativeFrameOf(call);
}

ForeignPaths::Frame ForeignPaths::frameOfLine(std::string_view line, bool is_python) {
  auto key = std::pair(is_python, std::string(line));
  if (const auto found = frames_of_lines_.find(key); found != frames_of_lines_.end())
    return found->second;
  return frames_of_lines_[std::move(key)] = frameOf(is_python ? pythonCallIn(line) : nativeCallIn(line));
}

uint32_t ForeignPaths::nodeOf(uint32_t parent, Frame frame) {
  constexpr uint32_t kMostNodes = abi::kMaxPathBlocks * abi::kPathBlockNodes;
  const auto number = static_cast<uint32_t>(abi::kFirstPath + entries_.size());
  const auto [found, is_new] = nodes_.try_emplace({parent, frame}, number);
  if (!is_new)
    return found->second;
  if (number >= kMostNodes) {
    nodes_.erase(found);
    return abi::kPathUnknown;
  }
  entries_.push_back({number, parent, frame.image, frame.address});
  return number;
}

uint32_t ForeignPaths::siteOf(uint32_t node) { return node < abi::kFirstPath ? 0 : abi::kPathSite | node; }

// A dump does not tell which call of C evaluates Python code. The calls of C are put inside those of Python.
uint32_t ForeignPaths::siteOf(std::string_view python_stack, std::string_view c_stack) {
  const auto [found, is_new] = sites_.try_emplace(std::string(python_stack) + '\0' + std::string(c_stack), 0);
  if (!is_new)
    return found->second;
  uint32_t node = abi::kPathBegin;
  for (const auto &[stack, is_python] : {std::pair(python_stack, true), std::pair(c_stack, false)})
    for (const std::string_view line : linesOf(stack) | std::views::reverse)
      node = nodeOf(node, frameOfLine(line, is_python));
  return found->second = siteOf(node);
}

Result<void> ForeignPaths::write(TraceWriter &writer) const {
  if (!records_.empty())
    MSL_TRY(writer.definitions(process_, std::as_bytes(std::span(records_))));
  for (size_t first = 0; first < entries_.size(); first += TraceWriter::kMaxPathsAtOnce)
    MSL_TRY(writer.paths(
        process_, std::span(entries_).subspan(first, std::min(TraceWriter::kMaxPathsAtOnce, entries_.size() - first))));
  for (const auto &[image, addresses] : names_) {
    std::vector<NamedAddress> sorted = addresses;
    std::ranges::sort(sorted, {}, &NamedAddress::address);
    MSL_TRY(writer.names({{image, {}}, std::move(sorted)}));
  }
  return {};
}

} // namespace msleaks::analysis::inline importers
