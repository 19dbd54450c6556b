// Uses all forms of operator new. The block of an array of objects with destructors begins with their number.
#include <cstdlib>
#include <new>

struct alignas(64) Wide {
  float lanes[16];
};
struct Owner {
  int *value = new int(3);
  ~Owner() { delete value; }
};

void *volatile kept[16];

int main() {
  kept[0] = new int(1);
  kept[1] = new double[100];
  kept[2] = new Wide;
  kept[3] = new Wide[10];
  kept[4] = new (std::nothrow) char[333];
  kept[5] = new (std::nothrow) Wide;
  kept[6] = new Owner[5];
  kept[7] = ::operator new(77);
  kept[8] = ::operator new(128, std::align_val_t(128));

  for (int i = 1; i < 200; ++i) {
    delete[] new int[i * 100];
    delete new Wide;
    delete[] new Owner[3];
  }
  delete static_cast<int *>(kept[0]);
}
