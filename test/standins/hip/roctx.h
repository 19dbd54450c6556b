// Replaces roctx's own header, and declares the same functions.
#pragma once

#include <stdint.h>

void roctxMarkA(const char *text);
int roctxRangePushA(const char *text);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *text);
void roctxRangeStop(uint64_t range);
