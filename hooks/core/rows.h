// Makes hooks of the rows of a part of the table of functions (msleaks/abi/functions.h):
//
//   #include "core/rows.h"
//   #define MSL_PART_COPIES
//   #include "msleaks/abi/functions/cuda.def"
//
// The file declares the types and the bodies that the rows name.
#pragma once

#include "msleaks/hook.h"

#define MSL_FUNCTION(...) MSL_ROW_HOOKS(MSL_HOOK_PLAIN, , __VA_ARGS__)
#define MSL_FUNCTION_WITH(body, ...) MSL_ROW_HOOKS(MSL_HOOK_WITH, body, __VA_ARGS__)
#define MSL_FUNCTION_NAMED(body, ...) MSL_ROW_HOOKS(MSL_HOOK_NAMED, body, __VA_ARGS__)
#define MSL_ROW_HOOKS(...) MSL_ROW_HOOKS_(__VA_ARGS__)
#define MSL_ROW_HOOKS_(hook, body, family, library, result, form, name, parameters, ...)                               \
  MSL_ROW_##form(hook, body, library, result, name, parameters)

// The hooks of a function and of its other form. The macros for IMPL and INNER are in ascend/forms.h.
#define MSL_ROW_ONE(hook, body, library, result, name, parameters) hook(body, library, result, name, parameters)
#define MSL_ROW_PTDS(hook, body, library, result, name, parameters)                                                    \
  hook(body, library, result, name, parameters) hook(body, library, result, name##_ptds, parameters)
#define MSL_ROW_PTSZ(hook, body, library, result, name, parameters)                                                    \
  hook(body, library, result, name, parameters) hook(body, library, result, name##_ptsz, parameters)
#define MSL_ROW_SPT(hook, body, library, result, name, parameters)                                                     \
  hook(body, library, result, name, parameters) hook(body, library, result, name##_spt, parameters)

#define MSL_HOOK_PLAIN(none, library, result, name, parameters) MSL_HOOK(library, result, name, parameters)
// `body<NAME>` is a body for the function with this name.
#define MSL_HOOK_NAMED(body, library, result, name, parameters)                                                        \
  MSL_HOOK_WITH(body<#name>, library, result, name, parameters)
