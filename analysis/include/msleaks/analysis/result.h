// What a function returns that can fail on the world: a value, or one sentence for the user.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace msleaks {

// Exit statuses of every program of msleaks.
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

} // namespace msleaks
