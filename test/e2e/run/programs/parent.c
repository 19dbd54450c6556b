// Usage: parent PROGRAM. Leaks a small block in a function with a long name, and runs PROGRAM as a child.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void *
a_function_whose_name_is_so_long_that_no_terminal_of_eighty_columns_can_show_all_of_it(void) {
  void *volatile block = malloc(5);
  return block;
}

int main(int argc, char **argv) {
  int status = 1;
  const pid_t child = argc == 2 ? fork() : -1;
  if (child == 0) {
    execl(argv[1], argv[1], (char *)NULL);
    _exit(127);
  }
  return a_function_whose_name_is_so_long_that_no_terminal_of_eighty_columns_can_show_all_of_it() == NULL ||
         waitpid(child, &status, 0) != child || status != 0;
}
