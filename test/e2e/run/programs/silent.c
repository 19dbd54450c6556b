// Allocates nothing, and is linked as the test says.
int main(void) { return 7; }
