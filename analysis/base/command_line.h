// The command line of a program of ours: its options, its words and its commands, declared once. The help, the man
// pages and the completions of shells come from these declarations. CLI11 reads the arguments; only command_line.cpp
// includes it, as its header takes four seconds to parse.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline base {

struct DeclaredOption;

// An option, or a word without dashes, that was just declared. Each function returns it again.
class Option {
public:
  explicit Option(DeclaredOption &declared) : declared_(&declared) {}

  Option required() const;
  Option valueName(const std::string &name) const;   // in the help, as in `--html FILE`
  Option showDefault() const;                        // what the variable holds now
  Option showDefault(const std::string &text) const; // for an option that calls a function
  Option excludes(Option other) const;
  Option needs(Option other) const;
  Option oneOf(const std::vector<std::string> &choices) const;
  Option suggest(const std::vector<std::string> &choices) const; // only to completions; another value is no error
  template <class Number> Option between(Number least, Number most) const;
  template <class Number> Option between(Number least, Number most, const std::string &description) const;
  Option byteSize() const; // 1024, 4KiB, 10MB
  Option separatedBy(char separator) const;
  Option oneAtATime() const; // `--hooks A --hooks B`; the word behind A is not its value
  // The value FIRST has a second word: `--metric place FILE:LINE`. Then the value is both, with a space between them.
  Option secondWordAfter(const std::string &first) const;
  // `check` returns what is wrong with a value, or nothing.
  Option check(std::function<std::string(const std::string &)> check) const;

private:
  DeclaredOption *declared_;
};

// Whether the help of --help shows a group of options, or only that of --help-all does.
enum class Shown { Always, InFullHelp };

class CommandLine {
public:
  CommandLine(const std::string &program, const std::string &summary);
  ~CommandLine();
  CommandLine(const CommandLine &) = delete;
  CommandLine &operator=(const CommandLine &) = delete;

  void version(const std::string &text);
  void usage(const std::string &text); // the first line of the help

  // Options that are declared from here on are in this group of the help.
  void group(const std::string &name, Shown shown = Shown::Always);

  // `names`: "-o,--output", or without dashes the name of a word. A value is a string, a number, an optional of these,
  // or a vector of strings.
  template <class Value> Option option(const std::string &names, Value &value, const std::string &doc);
  // `take` returns what is wrong with a value, or nothing.
  Option optionWith(const std::string &names, std::function<std::string(const std::string &)> take,
                    const std::string &doc);
  Option flag(const std::string &names, bool &value, const std::string &doc);
  Option flagWith(const std::string &names, std::function<void()> take, const std::string &doc);

  // `chosen` is called once the arguments are read, if they name this command.
  CommandLine &command(const std::string &name, const std::string &summary, std::function<void()> chosen);
  void requireCommand();
  // All that stands behind this command is for another program, and so are the options before it. It is not read.
  void passOn(std::vector<std::string> &rest);
  // Whether a command was named that passes on.
  bool passedOn() const;

  // The arguments do not have the program's own name. Returns the text of --help or --version, which is all that the
  // program has to do then; an empty text otherwise.
  Result<std::string> parse(const std::vector<std::string> &arguments);

  bool wasGiven(const std::string &name) const;
  // The number of the first arguments that are options or their values.
  size_t countLeadingOptions(const std::vector<std::string> &arguments) const;

private:
  struct Declarations;
  explicit CommandLine(std::unique_ptr<Declarations> declarations);
  std::unique_ptr<Declarations> own_;
};

// The number of bytes in a text, as byteSize() reads it.
std::optional<uint64_t> parseByteSize(std::string text);

} // namespace msleaks::analysis::inline base
