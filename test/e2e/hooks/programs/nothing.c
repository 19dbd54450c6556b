// A library without code. It only depends on other libraries.
