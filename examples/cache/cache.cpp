// A service with two mistakes: its cache keeps every answer forever, and the scratch buffer of each request leaks.
//
//   clang++-22 -O1 -g -fpass-plugin="$(msleaks plugin --llvm 22)" cache.cpp -o cache
//   msleaks-run -o RUN -- ./cache
#include <cstdio>
#include <cstring>

struct Answer {
  char text[1000];
  Answer *next;
};

static Answer *cache;

static const char *remember(const char *text) {
  Answer *answer = new Answer;
  std::strcpy(answer->text, text);
  answer->next = cache; // no code ever removes an answer
  cache = answer;
  return answer->text;
}

static int handle(int request) {
  char *scratch = new char[4096]; // never deleted
  std::snprintf(scratch, 4096, "the answer to %d is %d", request, request * request);
  return static_cast<int>(std::strlen(remember(scratch)));
}

int main() {
  int written = 0;
  for (int request = 0; request < 1000; ++request)
    written += handle(request);
  std::printf("%d bytes of answers\n", written);
}
