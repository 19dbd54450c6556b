// Imitates libascendcl.so of CANN 8 and later: each function forwards to a function of another library, whose name has
// the ending Impl. The rows of the table of functions say which functions these are.
#include "rows.h"

#include "msleaks/hook/each_parameter.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

#define MSL_FUNCTION(...) STANDIN_ROW(__VA_ARGS__)
#define MSL_FUNCTION_WITH(body, ...) MSL_FUNCTION(__VA_ARGS__)
#define STANDIN_ROW(family, library, result, form, name, parameters, ...) STANDIN_##form(result, name, parameters)
#define STANDIN_ONE(result, name, parameters)
#define STANDIN_IMPL(result, name, parameters)                                                                         \
  extern "C" [[gnu::weak]] result name##Impl(MSL_HOOK_EACH(MSL_HOOK_DECLARE, MSL_HOOK_LIST parameters));               \
  extern "C" result name(MSL_HOOK_EACH(MSL_HOOK_DECLARE, MSL_HOOK_LIST parameters)) {                                  \
    return name##Impl(MSL_HOOK_EACH(MSL_HOOK_NAME, MSL_HOOK_LIST parameters));                                         \
  }
#define MSL_PART_CALLS
#include "msleaks/abi/functions/acl.def"
