// Calls the function that executes an operator of ATB, without ATB's library. The call must fail.
#include <stdio.h>

#define EXECUTE "_ZN3atb6Runner7ExecuteERNS_17RunnerVariantPackE"
extern int execute(void *runner, void *pack) __asm__(EXECUTE) __attribute__((weak));

int main(void) {
  int runner = 0, pack = 0;
  puts(execute == NULL || execute(&runner, &pack) != 0 ? "not executed" : "executed");
  return 0;
}
