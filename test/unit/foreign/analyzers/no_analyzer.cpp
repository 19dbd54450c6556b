// A shared object that is something else.
extern "C" int something_else(void);
int something_else(void) { return 5; }
