// A shared object that is no analyzer.
extern "C" int something_else(void);
int something_else(void) { return 5; }
