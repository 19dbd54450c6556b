#include "analysis/collect/watch_option.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <vector>

namespace msleaks::analysis::inline collect {
namespace {

constexpr char kForms[] = "write ADDRESS[:BYTES], FILE:LINE[:BYTES], NAME[:BYTES] or tensor[:BYTES],START[:OUTPUT], "
                          "then [,START][,END][,full-content]";

tl::unexpected<Error> refuse(std::string_view text, std::string_view why) {
  return fail(fmt::format("--watch {}: {}; {}", text, why, kForms), ExitStatus::Usage);
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

bool readNumber(std::string_view text, uint64_t &number) {
  const bool is_hex = text.starts_with("0x");
  const std::string_view digits = text.substr(is_hex ? 2 : 0);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, is_hex ? 16 : 10);
  return error == std::errc() && end == digits.data() + digits.size();
}

// Reads the number after the last colon, and removes both from `text`.
bool takeNumber(std::string_view &text, uint64_t &number) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || !readNumber(text.substr(colon + 1), number))
    return false;
  text = text.substr(0, colon);
  return true;
}

template <size_t kSize> bool keep(std::string_view text, char (&to)[kSize]) {
  if (text.size() >= kSize)
    return false;
  std::memcpy(to, text.data(), text.size());
  return true;
}

bool looksLikeFile(std::string_view text) { return text.find_first_of("./") != std::string_view::npos; }

// Whether the text ends like the name of a source file. Dots alone do not show this: names of tensors have dots, too.
bool isSourceFile(std::string_view text) {
  constexpr std::string_view kSuffixes[] = {".c",  ".cc",  ".cpp", ".cxx", ".cu", ".cl",  ".h",  ".hpp",
                                            ".hh", ".hxx", ".cuh", ".inl", ".m",  ".mm",  ".rs", ".f90",
                                            ".C",  ".F90", ".f",   ".F",   ".go", ".hip", ".py"};
  return std::any_of(std::begin(kSuffixes), std::end(kSuffixes),
                     [&](std::string_view suffix) { return text.size() > suffix.size() && text.ends_with(suffix); });
}

// Returns why the text cannot be the name of a watch; empty: it can.
std::string whyNoName(std::string_view text) {
  const std::string_view first = text.substr(0, text.find(':'));
  if (text.starts_with("0x"))
    return fmt::format("{} is no address", text);
  if (isSourceFile(first) && first.size() < text.size())
    return fmt::format("{} is no line of {}", text.substr(first.size() + 1), first);
  if (isSourceFile(first))
    return fmt::format("{} has no line", text);
  return "";
}

// `text`: the option without the operations. `whole`: the whole option, for messages.
Result<abi::WatchWish> parseBlock(std::string_view whole, std::string_view text) {
  abi::WatchWish wish{};
  const size_t colon = text.find(':');
  if (readNumber(text.substr(0, colon), wish.address)) {
    wish.kind = abi::WatchKind::Address;
    if (wish.address == 0)
      return refuse(whole, "nothing is allocated at address 0");
    if (colon != std::string_view::npos && !readNumber(text.substr(colon + 1), wish.bytes))
      return refuse(whole, fmt::format("{} is no number of bytes", text.substr(colon + 1)));
    if (colon != std::string_view::npos && wish.bytes == 0)
      return refuse(whole, "0 bytes cannot change");
    return wish;
  }
  uint64_t last = 0, line = 0;
  const bool has_last = takeNumber(text, last), has_line = has_last && takeNumber(text, line);
  wish.kind = has_line || (has_last && looksLikeFile(text)) ? abi::WatchKind::Line : abi::WatchKind::Name;
  const bool has_bytes = has_line || wish.kind == abi::WatchKind::Name;
  wish.bytes = has_bytes ? last : 0;
  line = has_line ? line : last;
  if (wish.kind == abi::WatchKind::Line && (line == 0 || line > UINT32_MAX))
    return refuse(whole, fmt::format("{} is no line", line));
  wish.line = wish.kind == abi::WatchKind::Line ? static_cast<uint32_t>(line) : 0;
  if (has_last && has_bytes && last == 0)
    return refuse(whole, "0 bytes cannot change");
  if (const std::string why = wish.kind == abi::WatchKind::Name ? whyNoName(text) : ""; !why.empty())
    return refuse(whole, why);
  if (text.empty() || !keep(text, wish.what))
    return refuse(whole, fmt::format("a file or name has 1 to {} bytes", sizeof wish.what - 1));
  return wish;
}

} // namespace

Result<WatchOption> parseWatch(std::string_view text) {
  std::vector<std::string_view> parts = split(text, ',');
  WatchOption option;
  option.full_content = parts.size() > 1 && parts.back() == "full-content";
  if (option.full_content)
    parts.pop_back();
  abi::WatchWish &wish = option.wish;
  const auto block = MSL_TRY(parseBlock(text, parts[0]));
  wish = block;
  if (wish.kind == abi::WatchKind::Name && std::string_view(wish.what) == "tensor" && parts.size() > 1) {
    uint64_t number = 0;
    wish.kind = abi::WatchKind::Output;
    if (takeNumber(parts[1], number))
      wish.output = static_cast<uint32_t>(number + 1);
    if (parts[1].empty() || number >= UINT32_MAX)
      return refuse(text, "after tensor, name the operation whose output it is");
  }
  if (parts.size() > 3)
    return refuse(text, fmt::format("{} is one part too many", parts[3]));
  if ((parts.size() > 1 && !keep(parts[1], wish.begin)) || (parts.size() > 2 && !keep(parts[2], wish.end)))
    return refuse(text, fmt::format("the name of an operation has at most {} bytes", sizeof wish.begin - 1));
  return option;
}

abi::WatchWish watchOf(std::span<const std::string> options) {
  constexpr std::string_view kOption = "--watch";
  for (size_t i = 0; i < options.size(); ++i) {
    const std::string_view option = options[i];
    if (!option.starts_with(kOption))
      continue;
    const bool has_text = option.size() > kOption.size();
    if (has_text ? option[kOption.size()] != '=' : i + 1 == options.size())
      continue;
    return parseWatch(has_text ? option.substr(kOption.size() + 1) : std::string_view(options[i + 1]))
        .value_or(WatchOption{})
        .wish;
  }
  return {};
}

} // namespace msleaks::analysis::inline collect
