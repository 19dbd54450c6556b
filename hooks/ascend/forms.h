// Makes hooks of the rows of Ascend CANN, whose functions may have a second name (msleaks/abi/functions/acl.def).
//
// From CANN 8 on, each function of libascendcl calls a function with the same name and the ending "Impl". Other
// libraries call the Impl functions directly. If one of these functions runs inside another one, only the outer call is
// recorded. The library that defines the Impl functions differs between versions of CANN.
#pragma once

#include "core/rows.h"

// clang-format off
#define MSL_BEHIND_ACL libacl_rt_impl|libascendcl_impl|libacl_rt|libascendcl
// clang-format on
#define MSL_ROW_IMPL(hook, body, library, result, name, parameters)                                                    \
  hook(body, library, result, name, parameters) hook##_IMPL(body, MSL_BEHIND_ACL, result, name, parameters)
#define MSL_HOOK_PLAIN_IMPL(none, library, result, name, parameters)                                                   \
  MSL_HOOK_AS(::msleaks::hook::Known<#name>, library, result, name##Impl, parameters)
#define MSL_HOOK_WITH_IMPL(body, library, result, name, parameters)                                                    \
  MSL_HOOK_WITH(body, library, result, name##Impl, parameters)

#define MSL_ROW_INNER(hook, body, library, result, name, parameters) MSL_HAL_HOOK(body, name, parameters)
