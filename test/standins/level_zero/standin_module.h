// The "native binary" that a module of the stand-in is made of: a table of functions of the host, ended by one without
// a name.
#pragma once
#include <level_zero/ze_api.h>

struct standin_kernel {
  const char *name;
  void (*run)(const ze_group_count_t *groups, const uint64_t *arguments); // arguments of up to 8 bytes each
};
