// Declares the callbacks of callbacks.def: functions of the runtime that instrumented code and hooks call. The pass
// reads their types with decltype and never calls them, so an object that includes this header does not refer to the
// runtime.
#pragma once

#include <cstdint>

extern "C" {
#define MSL_CALLBACK(name, doc, ...) [[gnu::visibility("default")]] void __msl_##name(__VA_ARGS__) noexcept;
#include "msleaks/abi/callbacks.def"
}
