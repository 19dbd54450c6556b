// Allocates nothing. The test decides how it is linked.
int main(void) { return 7; }
