// A library that a test opens and closes: nobody else has it open, and no sanitizer keeps it.
int msl_test_loadable(void);
int msl_test_loadable(void) { return 1; }

int msl_test_call(int (*function)(void));
int msl_test_call(int (*function)(void)) { return function() + 1; }
