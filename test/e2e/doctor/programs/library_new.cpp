// Calls the C++ library's operator new.
int *volatile block;

int main() {
  block = new int;
  delete block;
}
