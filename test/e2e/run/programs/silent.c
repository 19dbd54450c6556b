// Allocates nothing. The test links it dynamically or statically.
int main(void) { return 7; }
