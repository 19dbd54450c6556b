// A library that tests open and close. It is built without a sanitizer, which would keep it loaded.
int msl_test_loadable(void);
int msl_test_loadable(void) { return 1; }

int msl_test_call(int (*function)(void));
int msl_test_call(int (*function)(void)) { return function() + 1; }
