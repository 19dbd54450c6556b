// Defines the forms of a library's functions for programs with one default stream per thread, from the rows of the
// table of functions. Each form calls the function itself. A source of a stand-in defines STANDIN_IN_library for the
// library, includes this file, the types of the rows, and the rows. A form whose function the stand-in does not define
// must not be called.
#pragma once

#include "refusal.h"

#include "msleaks/hook/each_parameter.h"

#include <type_traits>

#define MSL_PART_ALL
#define MSL_FUNCTION(...) STANDIN_ROW(__VA_ARGS__)
#define MSL_FUNCTION_WITH(body, ...) MSL_FUNCTION(__VA_ARGS__)
#define MSL_FUNCTION_NAMED(body, ...) MSL_FUNCTION(__VA_ARGS__)
#define STANDIN_ROW(family, library, result, form, name, parameters, ...)                                              \
  STANDIN_IN_##library(result, form, name, parameters)

#define STANDIN_FORM(result, form, name, parameters) STANDIN_FORM_##form(result, name, parameters)
#define STANDIN_FORM_ONE(result, name, parameters)
#define STANDIN_FORM_PTDS(result, name, parameters) STANDIN_DEFINE(result, name, name##_ptds, parameters)
#define STANDIN_FORM_PTSZ(result, name, parameters) STANDIN_DEFINE(result, name, name##_ptsz, parameters)
#define STANDIN_FORM_SPT(result, name, parameters) STANDIN_DEFINE(result, name, name##_spt, parameters)
// Both are weak, because a stand-in may lack the function, or define the form itself.
#define STANDIN_DEFINE(result, name, form, parameters)                                                                 \
  extern "C" [[gnu::weak]] result name(MSL_HOOK_EACH(MSL_HOOK_DECLARE, MSL_HOOK_LIST parameters));                     \
  extern "C" [[gnu::weak]] result form(MSL_HOOK_EACH(MSL_HOOK_DECLARE, MSL_HOOK_LIST parameters)) {                    \
    STANDIN_MAY_REFUSE(static_cast<result>);                                                                           \
    return name(MSL_HOOK_EACH(MSL_HOOK_NAME, MSL_HOOK_LIST parameters));                                               \
  }
