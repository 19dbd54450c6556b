// A library that only needs others.
