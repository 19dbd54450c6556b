// Imitates functions of a driver that make and destroy objects without memory of the device. They are made of the rows
// of the part OBJECTS of the table of functions. STANDIN_ROWS is the file of the rows, and STANDIN_TYPES the header of
// their types.
#include "objects.h"

#include "msleaks/abi/handle_calls.h"
#include "msleaks/hook/each_parameter.h"

#include <array>
#include <cstdint>
#include <type_traits>

#include STANDIN_TYPES

using namespace msleaks;

namespace {

template <class Value> uint64_t wordOf(Value value) {
  if constexpr (std::is_pointer_v<Value>)
    return reinterpret_cast<uint64_t>(value);
  else if constexpr (std::is_integral_v<Value>)
    return static_cast<uint64_t>(value);
  else
    return 0; // a struct
}

standin::Objects &objectsOf(abi::HandleKind kind) {
  static std::array<standin::Objects *, 256> all{};
  standin::Objects *&objects = all[static_cast<uint8_t>(kind)];
  if (objects == nullptr)
    objects = new standin::Objects(nameOf(kind));
  return *objects;
}

template <class Result, class... Parameters> Result act(const abi::HandleCall &call, Parameters... parameters) {
  const uint64_t words[] = {wordOf(parameters)...};
  void *made = nullptr;
  int status = 0;
  if (call.verb == abi::HandleVerb::Closes)
    status = objectsOf(call.kind).destroy(reinterpret_cast<void *>(words[call.at.index()]));
  else if (call.result == abi::HandleResult::Return)
    status = objectsOf(call.kind).make(&made);
  else
    status = objectsOf(call.kind).make(reinterpret_cast<void **>(words[call.at.index()]));
  if constexpr (std::is_pointer_v<Result>)
    return static_cast<Result>(made);
  else if constexpr (!std::is_void_v<Result>)
    return static_cast<Result>(status);
}

} // namespace

#define MSL_PART_OBJECTS
#define MSL_FUNCTION(...) STANDIN_ROW(__VA_ARGS__)
#define MSL_FUNCTION_WITH(body, ...) MSL_FUNCTION(__VA_ARGS__)
#define MSL_FUNCTION_NAMED(body, ...) MSL_FUNCTION(__VA_ARGS__)
#define STANDIN_ROW(family, library, result, form, name, parameters, ...)                                              \
  extern "C" result name(MSL_HOOK_EACH(MSL_HOOK_DECLARE, MSL_HOOK_LIST parameters)) {                                  \
    return act<result>(abi::handleCallsOf(#name).calls[0], MSL_HOOK_EACH(MSL_HOOK_NAME, MSL_HOOK_LIST parameters));    \
  }
#include STANDIN_ROWS
