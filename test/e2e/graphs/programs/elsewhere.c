// A library that counted.cpp opens and closes.
int work_elsewhere(int n) {
  volatile int sum = 0;
  for (int i = 0; i < n; ++i)
    sum = sum + i;
  return sum;
}
