// The result of a function that can fail because of its input or the system: a value, or an error for the user.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace msleaks {

// The exit statuses that all programs of msleaks use.
enum class ExitStatus : int { Clean = 0, Findings = 1, Usage = 2, BadInput = 3, OwnFault = 4 };

// `message` is one line: what is wrong, where, and what to do about it.
struct Error {
  std::string message;
  ExitStatus status = ExitStatus::BadInput;
};

template <class T> using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(std::string message, ExitStatus status = ExitStatus::BadInput) {
  return tl::make_unexpected(Error{std::move(message), status});
}

template <class T> T valueOf(Result<T> &&result) { return *std::move(result); }
inline void valueOf(Result<void> &&) {}

} // namespace msleaks

// Returns the value of a Result. If the Result is an error, the enclosing function returns this error.
//
//   TraceReader reader = MSL_TRY(TraceReader::open(path));
#define MSL_TRY(...)                                                                                                   \
  __extension__({                                                                                                      \
    auto &&msl_tried = (__VA_ARGS__);                                                                                  \
    if (!msl_tried) [[unlikely]]                                                                                       \
      return tl::make_unexpected(std::move(msl_tried).error());                                                        \
    ::msleaks::valueOf(std::move(msl_tried));                                                                          \
  })
