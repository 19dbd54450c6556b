// Calls each function of the part OBJECTS of the table of functions. First it calls all functions that make an object,
// twice each. Then it calls all functions that destroy one, with another object of their kind. The other objects stay
// open. The macros are those of the stand-in (test/standins/common/row_objects.cpp).
#include "msleaks/abi/handle_calls.h"
#include "msleaks/hook/each_parameter.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <tuple>
#include <type_traits>
#include <vector>

#include STANDIN_TYPES

using namespace msleaks;

static std::map<abi::HandleKind, std::vector<void *>> objects;
static int failures;

static void expect(bool right, const char *what) {
  if (!right) {
    std::printf("%s fails\n", what);
    ++failures;
  }
}

// Calls the function with zeros, and with `value` at the position `at`.
template <class Result, class... Parameters>
static bool callWith(Result (*function)(Parameters...), int at, void *value, void *&returned) {
  std::tuple<Parameters...> given{};
  int index = 0;
  const auto set = [&](auto &parameter) {
    if (index++ == at)
      std::memcpy(&parameter, &value, sizeof value < sizeof parameter ? sizeof value : sizeof parameter);
  };
  std::apply([&](auto &...each) { (set(each), ...); }, given);
  if constexpr (std::is_void_v<Result>) {
    std::apply(function, given);
    return true;
  } else if constexpr (std::is_pointer_v<Result>) {
    returned = std::apply(function, given);
    return returned != nullptr;
  } else {
    return std::apply(function, given) == 0;
  }
}

template <class Function> static void make(Function function, const abi::HandleCall &call, const char *name) {
  for (int i = 0; i < 2; ++i) {
    void *made = nullptr;
    const bool stored = call.result != abi::HandleResult::Return;
    expect(callWith(function, stored ? call.at.index() : -1, &made, made) && made != nullptr, name);
    objects[call.kind].push_back(made);
  }
}

template <class Function> static void destroy(Function function, const abi::HandleCall &call, const char *name) {
  std::vector<void *> &of_kind = objects[call.kind];
  void *returned = nullptr;
  expect(!of_kind.empty() && callWith(function, call.at.index(), of_kind.back(), returned), name);
  of_kind.pop_back();
}

#define MSL_PART_OBJECTS
#define MSL_FUNCTION(...) PROGRAM_ROW(__VA_ARGS__)
#define MSL_FUNCTION_WITH(body, ...) MSL_FUNCTION(__VA_ARGS__)
#define MSL_FUNCTION_NAMED(body, ...) MSL_FUNCTION(__VA_ARGS__)

#define PROGRAM_ROW(family, library, result, form, name, parameters, ...)                                              \
  extern "C" result name(MSL_HOOK_EACH(MSL_HOOK_DECLARE, MSL_HOOK_LIST parameters));
#include STANDIN_ROWS
#undef PROGRAM_ROW

static void makeAll() {
#define PROGRAM_ROW(family, library, result, form, name, parameters, ...)                                              \
  if (abi::handleCallsOf(#name).calls[0].verb == abi::HandleVerb::Opens)                                               \
    make(name, abi::handleCallsOf(#name).calls[0], #name);
#include STANDIN_ROWS
#undef PROGRAM_ROW
}

static void destroyAll() {
#define PROGRAM_ROW(family, library, result, form, name, parameters, ...)                                              \
  if (abi::handleCallsOf(#name).calls[0].verb == abi::HandleVerb::Closes)                                              \
    destroy(name, abi::handleCallsOf(#name).calls[0], #name);
#include STANDIN_ROWS
}

int main() {
  makeAll();
  destroyAll();
  std::printf("%d failures\n", failures);
  return failures != 0;
}
