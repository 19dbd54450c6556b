// Starts another program. Usage: starter keep|clear PROGRAM arguments… `clear` starts it with an empty environment.
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(int count, char **arguments) {
  if (count < 3)
    return 2;
  char *none[] = {0};
  if (fork() == 0) {
    execve(arguments[2], arguments + 2, strcmp(arguments[1], "clear") == 0 ? none : environ);
    _exit(127);
  }
  int status = 0;
  wait(&status);
  return WEXITSTATUS(status);
}
