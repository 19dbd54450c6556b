// A shared object without an analyzer.
extern "C" int something_else(void);
int something_else(void) { return 5; }
