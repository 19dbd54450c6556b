int *make(int value) { return new int(value); }
