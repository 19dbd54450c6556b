// Defines hooks of CUDA and HIP by rows.
#pragma once

#include "msleaks/hook.h"

// `body<NAME>` is a body for the function with this name.
#define MSL_HOOK_NAMED(body, library, result, name, parameters)                                                        \
  MSL_HOOK_WITH(body<#name>, library, result, name, parameters)

// Defines the hooks of a function and of its form for programs with one default stream per thread. The form has the
// same parameters, and the ending _ptsz, _ptds (CUDA) or _spt (HIP).
#define MSL_HOOK_FORMS(form, library, result, name, parameters)                                                        \
  MSL_HOOK(library, result, name, parameters)                                                                          \
  MSL_HOOK(library, result, name##form, parameters)

#define MSL_HOOK_FORMS_WITH(body, form, library, result, name, parameters)                                             \
  MSL_HOOK_WITH(body, library, result, name, parameters)                                                               \
  MSL_HOOK_WITH(body, library, result, name##form, parameters)

#define MSL_HOOK_FORMS_NAMED(body, form, library, result, name, parameters)                                            \
  MSL_HOOK_NAMED(body, library, result, name, parameters)                                                              \
  MSL_HOOK_NAMED(body, library, result, name##form, parameters)
