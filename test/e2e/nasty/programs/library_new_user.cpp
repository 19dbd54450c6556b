// This program is linked with the library library_new.cpp.
int *make();
void drop(int *);

int main() {
  for (int i = 0; i < 10; ++i)
    drop(new int(i));
  for (int i = 0; i < 10; ++i)
    delete make();
}
