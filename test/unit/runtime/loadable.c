// A library that only a test opens and closes; no sanitizer keeps it open.
int msl_test_loadable(void);
int msl_test_loadable(void) { return 1; }

int msl_test_call(int (*function)(void));
int msl_test_call(int (*function)(void)) { return function() + 1; }
