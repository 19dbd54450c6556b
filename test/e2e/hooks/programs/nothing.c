// A library without code. It only makes the linker load the libraries that it depends on.
