// Writes JSON to a stream, one value after the other. So no tree of the whole text is needed: the report of a training
// has a hundred megabytes. The text is the same as that of nlohmann's dump() with an indentation of 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline result {

// Bytes that are not UTF-8 become U+FFFD, because names may come from damaged files. Call flush() after the last value.
class JsonText {
public:
  explicit JsonText(std::ostream &to) : to_(to) {}
  JsonText(const JsonText &) = delete;
  JsonText &operator=(const JsonText &) = delete;

  void null();
  void boolean(bool);
  void number(uint64_t);
  void number(int64_t);
  void number(double); // infinite, or no number: null
  void text(std::string_view);

  void beginObject() { begin('{'); }
  void key(std::string_view); // the next value belongs to it
  void endObject() { end('}'); }
  void beginList() { begin('['); }
  void endList() { end(']'); }

  void flush();

private:
  void begin(char bracket);
  void end(char bracket);
  void item();
  void newLine();
  void quoted(std::string_view);

  std::ostream &to_;
  std::string buffer_;
  size_t depth_ = 0;          // of open objects and lists
  bool is_empty_ = true;      // the innermost one has no item yet
  bool is_after_key_ = false; // the next value stands in the line of its key
};

} // namespace msleaks::analysis::inline result
