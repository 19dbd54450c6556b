// Makes libc allocate memory that it keeps until the end, for example for the environment, the time zone, locales,
// message catalogs and buffers of streams. None of this memory is a leak of the program.
#include <libintl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(void) {
  setenv("NASTY_VARIABLE", "a value", 1);
  setenv("NASTY_VARIABLE", "another value", 1);
  static char own[] = "NASTY_OTHER=1";
  putenv(own);
  unsetenv("NASTY_VARIABLE");
  setenv("TZ", "Europe/Berlin", 1);
  tzset();
  time_t then = 1000000000;
  struct tm *parts = localtime(&then);
  setlocale(LC_ALL, "C.UTF-8");
  bindtextdomain("nasty", "/nowhere");
  textdomain("nasty");
  printf("%d %s %s %s\n", parts->tm_year, gettext("text"), strsignal(90) != NULL ? "signal" : "none", strerror(12345));
  fprintf(stdout, "%.2000f\n", 1.0 / 3);
  return 0;
}
