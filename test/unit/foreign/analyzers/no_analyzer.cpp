// A shared object without an analyzer.
extern "C" int somethingElse(void);
int somethingElse(void) { return 5; }
