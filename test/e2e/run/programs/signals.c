// Prints the numbers of the signals that it gets, until SIGTERM. It prints "ready" before it waits for signals.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static const int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};

int main(void) {
  sigset_t set;
  sigemptyset(&set);
  for (unsigned i = 0; i < sizeof kSignals / sizeof *kSignals; ++i)
    sigaddset(&set, kSignals[i]);
  sigprocmask(SIG_BLOCK, &set, NULL);
  puts("ready");
  fflush(stdout);
  for (int signal; sigwait(&set, &signal) == 0;) {
    printf("%d\n", signal);
    fflush(stdout);
    if (signal == SIGTERM)
      return 9;
  }
  return 1;
}
