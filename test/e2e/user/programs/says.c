#include <msleaks/api.h>

__attribute__((visibility("default"))) void library_says(void) {
  msl_mark("library");
  msl_range_push("forward");
  msl_range_pop();
}
