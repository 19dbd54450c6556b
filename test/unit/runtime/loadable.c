// A library that tests open and close. It is built without a sanitizer, which would keep it loaded.
int msl_test_loadable(void);
int msl_test_loadable(void) { return 1; }

int msl_test_call(int (*function)(void));
int msl_test_call(int (*function)(void)) { return function() + 1; }

_Alignas(8) char msl_test_data[256]; // room for a unit and its table
