// Defines hooks of CUDA and HIP by rows.
//
// A file devices/*_rows.def has the functions that both have with the same parameters. cuda/rows.h and hip/rows.h say
// what its types mean, and define:
//
//   MSL_RUNTIME(forms, name, parameters)    cudaNAME of CUDA's runtime library; hipNAME
//   MSL_DRIVER(forms, name, parameters)     cuNAME of CUDA's driver; hipNAME
//   MSL_DRIVER_V2(forms, name, parameters)  cuNAME_v2 of CUDA's driver; hipNAME
//   …_WITH(body, forms, name, parameters)   the same, with a body as for MSL_HOOK_WITH
//   …_NAMED(body, name, parameters)         the same, with a body as for MSL_HOOK_NAMED
//
// forms  ONE: only this function · DS, SZ: also its form for programs with one default stream per thread, NAME_ptds or
//        NAME_ptsz in CUDA and NAME_spt in HIP · CUDA_DS, CUDA_SZ: HIP has no such form
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
