// Describes the "native binary" of a module in the stand-in: a table of functions of the host. An entry without a name
// ends the table.
#pragma once
#include <level_zero/ze_api.h>

struct standin_kernel {
  const char *name;
  void (*run)(const ze_group_count_t *groups, const uint64_t *arguments); // each argument has up to 8 bytes
};
