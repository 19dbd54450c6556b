#include "without_tables.h"

void *msl_test_callers[1024];
unsigned msl_test_depth;
void (*msl_test_check)(void);
