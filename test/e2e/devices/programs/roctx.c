// Sets marks and ranges by roctx, and prints the library's results.
#include "roctx.h"

#include <stdio.h>

int main(void) {
  roctxMarkA("loaded");
  printf("%d\n", roctxRangePushA("forward"));
  printf("%d\n", roctxRangePushA("inner"));
  printf("%d\n", roctxRangePop());
  const uint64_t range = roctxRangeStartA("copy");
  printf("%d\n", roctxRangePop());
  roctxRangeStop(range);
  printf("%d\n", roctxRangePop());
  return 0;
}
