#include "analysis/counts/pickle.h"

#include "analysis/counts/escaped.h"

#include <bit>
#include <charconv>
#include <fmt/format.h>
#include <unordered_map>

namespace msleaks::analysis::profiles {
namespace {

constexpr Pickle::Ref kMark = UINT32_MAX; // on the stack: the items of a list begin here

} // namespace

class PickleParser {
public:
  PickleParser(std::string_view content, size_t most_values) : content_(content), most_values_(most_values) {}
  Result<Pickle> parse();

private:
  using Kind = Pickle::Kind;
  using Ref = Pickle::Ref;

  std::string_view take(uint64_t size) {
    if (size > content_.size() - at_) {
      failed_ = true;
      return {};
    }
    at_ += static_cast<size_t>(size);
    return content_.substr(at_ - static_cast<size_t>(size), static_cast<size_t>(size));
  }
  std::string_view takeLine() {
    const size_t end = content_.find('\n', at_);
    if (end == std::string_view::npos) {
      failed_ = true;
      return {};
    }
    const std::string_view line = content_.substr(at_, end - at_);
    at_ = end + 1;
    return line;
  }
  uint64_t takeNumber(size_t bytes) { // The number is little-endian.
    uint64_t value = 0;
    const std::string_view taken = take(bytes);
    for (size_t i = 0; i < taken.size(); ++i)
      value |= static_cast<uint64_t>(static_cast<uint8_t>(taken[i])) << (8 * i);
    return value;
  }

  void push(Kind kind, uint64_t bits = 0) {
    stack_.push_back(static_cast<Ref>(pickle_.values_.size()));
    pickle_.values_.push_back({kind, bits});
  }
  void pushText(std::string text) {
    push(Kind::Text, pickle_.texts_.size());
    pickle_.texts_.push_back(std::move(text));
  }
  void pushItems(Kind kind, std::vector<Ref> items = {}) {
    push(kind, pickle_.items_.size());
    pickle_.items_.push_back(std::move(items));
  }
  void pushFloat(double value) { push(Kind::Float, std::bit_cast<uint64_t>(value)); }
  void pushSigned(int64_t value) { push(value < 0 ? Kind::Negative : Kind::Integer, static_cast<uint64_t>(value)); }
  void pushLong(uint64_t bytes);
  void pushDecimal(std::string_view line);
  void pushFloatText(std::string_view line);
  void pushTuple(size_t count);

  Ref pop() {
    if (stack_.empty() || stack_.back() == kMark) {
      failed_ = true;
      return 0;
    }
    const Ref ref = stack_.back();
    stack_.pop_back();
    return ref;
  }
  std::vector<Ref> popToMark();
  void extend(Kind kind, const std::vector<Ref> &items);
  void keep(uint64_t number) {
    if (stack_.empty() || stack_.back() == kMark)
      failed_ = true;
    else
      memo_[number] = stack_.back();
  }
  void recall(uint64_t number) {
    const auto kept = memo_.find(number);
    if (kept == memo_.end())
      failed_ = true;
    else
      stack_.push_back(kept->second);
  }
  uint64_t numberOf(std::string_view line) {
    uint64_t number = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), number).ec != std::errc())
      failed_ = true;
    return number;
  }

  bool step(uint8_t opcode);     // false: the opcode is not known
  bool stepText(uint8_t opcode); // opcodes of the first protocols, which write numbers and texts in letters
  bool stepMemo(uint8_t opcode);
  bool stepItems(uint8_t opcode);

  std::string_view content_;
  size_t most_values_;
  size_t at_ = 0;
  bool failed_ = false;
  std::vector<Ref> stack_;
  std::unordered_map<uint64_t, Ref> memo_;
  Pickle pickle_;
};

// Reads an integer in two's complement, little-endian. Python stores it with as few bytes as possible.
void PickleParser::pushLong(uint64_t bytes) {
  const std::string_view taken = take(bytes);
  const bool negative = !taken.empty() && static_cast<uint8_t>(taken.back()) >= 0x80;
  uint64_t value = negative ? UINT64_MAX : 0;
  for (size_t i = 0; i < taken.size(); ++i) {
    const auto byte = static_cast<uint8_t>(taken[i]);
    if (i >= 8 && byte != (negative ? 0xff : 0))
      failed_ = true; // The integer has more than 64 bits.
    else if (i < 8)
      value = (value & ~(uint64_t{0xff} << (8 * i))) | static_cast<uint64_t>(byte) << (8 * i);
  }
  push(negative ? Kind::Negative : Kind::Integer, value);
}

void PickleParser::pushDecimal(std::string_view line) {
  if (line.ends_with('L')) // Python 2 writes an L at the end.
    line.remove_suffix(1);
  if (line.starts_with('-')) {
    int64_t value = 0;
    failed_ |= std::from_chars(line.data(), line.data() + line.size(), value).ec != std::errc();
    pushSigned(value);
  } else {
    push(Kind::Integer, numberOf(line));
  }
}

void PickleParser::pushFloatText(std::string_view line) {
  double value = 0;
  failed_ |= std::from_chars(line.data(), line.data() + line.size(), value).ec != std::errc();
  pushFloat(value);
}

void PickleParser::pushTuple(size_t count) {
  std::vector<Ref> items(count);
  for (size_t i = count; i-- > 0;)
    items[i] = pop();
  pushItems(Kind::List, std::move(items));
}

std::vector<Pickle::Ref> PickleParser::popToMark() {
  size_t begin = stack_.size();
  while (begin > 0 && stack_[begin - 1] != kMark)
    --begin;
  if (begin == 0) {
    failed_ = true;
    return {};
  }
  std::vector<Ref> items(stack_.begin() + static_cast<ptrdiff_t>(begin), stack_.end());
  stack_.resize(begin - 1);
  return items;
}

// Adds items to the list or dictionary on top of the stack.
void PickleParser::extend(Kind kind, const std::vector<Ref> &items) {
  if (failed_ || stack_.empty() || stack_.back() == kMark || pickle_.values_[stack_.back()].kind != kind ||
      (kind == Kind::Dictionary && items.size() % 2 != 0)) {
    failed_ = true;
    return;
  }
  std::vector<Ref> &held = pickle_.items_[pickle_.values_[stack_.back()].bits];
  held.insert(held.end(), items.begin(), items.end());
}

bool PickleParser::stepText(uint8_t opcode) {
  switch (opcode) {
  case 'I':
  case 'L':
    pushDecimal(takeLine());
    return true;
  case 'F':
    pushFloatText(takeLine());
    return true;
  case 'S': {
    const std::string_view line = takeLine();
    if (line.size() < 2 || line.front() != line.back() || (line.front() != '\'' && line.front() != '"'))
      failed_ = true;
    else
      pushText(fromRepr(line.substr(1, line.size() - 2)));
    return true;
  }
  case 'V':
    pushText(fromRawUnicode(takeLine()));
    return true;
  default:
    return false;
  }
}

bool PickleParser::stepMemo(uint8_t opcode) {
  switch (opcode) {
  case 'p':
    return keep(numberOf(takeLine())), true;
  case 'q':
    return keep(takeNumber(1)), true;
  case 'r':
    return keep(takeNumber(4)), true;
  case 0x94:
    return keep(memo_.size()), true;
  case 'g':
    return recall(numberOf(takeLine())), true;
  case 'h':
    return recall(takeNumber(1)), true;
  case 'j':
    return recall(takeNumber(4)), true;
  default:
    return false;
  }
}

bool PickleParser::stepItems(uint8_t opcode) {
  switch (opcode) {
  case '(':
    return stack_.push_back(kMark), true;
  case ']':
  case ')':
    return pushItems(Kind::List), true;
  case '}':
    return pushItems(Kind::Dictionary), true;
  case 'l':
  case 't':
    return pushItems(Kind::List, popToMark()), true;
  case 'd':
    pushItems(Kind::Dictionary, popToMark());
    failed_ |= pickle_.items_.back().size() % 2 != 0;
    return true;
  case '0':
    return pop(), true;
  case '1':
    return popToMark(), true;
  case '2':
    if (stack_.empty() || stack_.back() == kMark)
      return failed_ = true;
    return stack_.push_back(stack_.back()), true;
  case 0x85:
  case 0x86:
  case 0x87:
    return pushTuple(opcode - 0x84u), true;
  case 'a':
    return extend(Kind::List, {pop()}), true;
  case 'e':
    return extend(Kind::List, popToMark()), true;
  case 'u':
    return extend(Kind::Dictionary, popToMark()), true;
  case 's': {
    const Ref value = pop(), key = pop();
    return extend(Kind::Dictionary, {key, value}), true;
  }
  default:
    return false;
  }
}

bool PickleParser::step(uint8_t opcode) {
  switch (opcode) {
  case 0x80: // number of the protocol
    return take(1), true;
  case 0x95: // size of a frame, which is read at once
    return take(8), true;
  case 'N':
    return push(Kind::None), true;
  case 'K':
    return push(Kind::Integer, takeNumber(1)), true;
  case 'M':
    return push(Kind::Integer, takeNumber(2)), true;
  case 'J':
    return pushSigned(static_cast<int32_t>(takeNumber(4))), true;
  case 0x8a:
    return pushLong(takeNumber(1)), true;
  case 0x8b:
    return pushLong(takeNumber(4)), true;
  case 0x88:
  case 0x89:
    return push(Kind::Integer, opcode == 0x88), true;
  case 'G':
    return pushFloat(std::bit_cast<double>(__builtin_bswap64(takeNumber(8)))), true;
  case 0x8c:
  case 'U':
  case 'C':
    return pushText(std::string(take(takeNumber(1)))), true;
  case 'X':
  case 'T':
  case 'B':
    return pushText(std::string(take(takeNumber(4)))), true;
  case 0x8d:
  case 0x8e:
    return pushText(std::string(take(takeNumber(8)))), true;
  default:
    return stepItems(opcode) || stepMemo(opcode) || stepText(opcode);
  }
}

Result<Pickle> PickleParser::parse() {
  while (!failed_ && at_ < content_.size()) {
    const size_t begin = at_;
    const auto opcode = static_cast<uint8_t>(content_[at_++]);
    if (opcode == '.') {
      pickle_.root_ = pop();
      if (!failed_)
        return std::move(pickle_);
      break;
    }
    if (!step(opcode))
      return fail(fmt::format(
          "its pickle asks at byte {} for more than numbers, texts and lists (opcode {:#04x}); that could run "
          "code and is not read",
          begin, opcode));
    if (pickle_.values_.size() > most_values_ || stack_.size() > most_values_)
      return fail(fmt::format("its pickle has more than {} values", most_values_));
  }
  return fail("its pickle is damaged");
}

Result<Pickle> Pickle::parse(std::string_view content, size_t most_values) {
  return PickleParser(content, most_values).parse();
}

bool Pickle::isNumber(Ref ref) const {
  const Kind kind = kindOf(ref);
  return kind == Kind::Integer || kind == Kind::Negative || kind == Kind::Float;
}

double Pickle::numberOf(Ref ref) const {
  const Value &value = values_[ref];
  return value.kind == Kind::Float      ? std::bit_cast<double>(value.bits)
         : value.kind == Kind::Negative ? static_cast<double>(static_cast<int64_t>(value.bits))
                                        : static_cast<double>(value.bits);
}

const Pickle::Ref *Pickle::find(Ref dictionary, std::string_view key) const {
  if (kindOf(dictionary) != Kind::Dictionary)
    return nullptr;
  const std::vector<Ref> &items = itemsOf(dictionary);
  for (size_t i = items.size(); i >= 2; i -= 2)
    if (kindOf(items[i - 2]) == Kind::Text && textOf(items[i - 2]) == key)
      return &items[i - 1];
  return nullptr;
}

} // namespace msleaks::analysis::profiles
