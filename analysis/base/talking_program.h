// A program that we start, and that we talk to over its input and output.
#pragma once

#include "analysis/base/files.h"
#include "analysis/base/result.h"

#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace msleaks::analysis::inline base {

class TalkingProgram {
public:
  // Searches command[0] like execvp. The program is not recorded, and its errors go nowhere.
  static Result<std::unique_ptr<TalkingProgram>> start(std::vector<std::string> command);
  ~TalkingProgram(); // kills the program, if it still runs
  TalkingProgram(const TalkingProgram &) = delete;
  TalkingProgram &operator=(const TalkingProgram &) = delete;

  void send(std::string_view bytes);
  // The program's input ends.
  void endInput();
  // Returns the next line of its output without the line's end, or what there is of it.
  std::string readLine();
  // Whether the program has taken everything so far.
  bool good() const { return good_; }

private:
  TalkingProgram(pid_t pid, FileDescriptor socket) : pid_(pid), socket_(std::move(socket)) {}

  pid_t pid_;
  FileDescriptor socket_;
  bool good_ = true;
};

} // namespace msleaks::analysis::inline base
