// Opens each kind of handle of libc, by each function that creates one. N handles of a line with the
// comment `forgets KIND N` stay open, and all others are closed. With `mended` none stays open.
#define _GNU_SOURCE
// clang-format off: a call and its comment must be in one line
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>
#include <wchar.h>

int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);

// Makes a call that some systems refuse. If the call fails, prints a message and opens another descriptor in this line.
#define OR_NULL(call) ((tried = (call)) >= 0 ? tried : (printf("refused: %s: %s\n", #call, strerror(errno)), open("/dev/null", O_RDONLY)))
static int tried;

static int mended;
static char folder[] = "/tmp/handles-XXXXXX";

static int kept(int file) {
  if (file < 3) {
    perror("a descriptor");
    exit(1);
  }
  if (mended)
    close(file);
  return file;
}
static void *filed(FILE *file) {
  if (file == NULL) {
    perror("a FILE");
    exit(1);
  }
  if (mended)
    fclose(file);
  return file;
}
static void folded(DIR *listing) {
  if (listing == NULL)
    exit(1);
  if (mended)
    closedir(listing);
}
static const char *path(const char *name) {
  static char text[4][200];
  static int turn;
  char *to = text[turn++ % 4];
  snprintf(to, 200, "%s/%s", folder, name);
  return to;
}
static char *pattern(const char *ending) {
  static char text[200];
  snprintf(text, sizeof text, "%s/tXXXXXX%s", folder, ending);
  return text;
}

static void descriptors(void) {
  const int here = open(folder, O_RDONLY | O_DIRECTORY);
  kept(open(path("a"), O_CREAT | O_RDWR, 0640)); // forgets descriptor 1
  for (int i = 0; i < 3; ++i)
    kept(open64(path("a"), O_RDONLY)); // forgets descriptor 3
  kept(openat(here, "b", O_CREAT | O_RDWR, 0604)); // forgets descriptor 1
  kept(openat64(here, "c", O_CREAT | O_RDWR, 0600)); // forgets descriptor 1
  kept(creat(path("d"), 0611)); // forgets descriptor 1
  kept(creat64(path("e"), 0612)); // forgets descriptor 1
  kept(__open_2(path("a"), O_RDONLY)); // forgets descriptor 1
  kept(__open64_2(path("a"), O_RDONLY)); // forgets descriptor 1
  kept(__openat_2(here, "a", O_RDONLY)); // forgets descriptor 1
  kept(__openat64_2(here, "a", O_RDONLY)); // forgets descriptor 1
  kept(mkstemp(pattern(""))); // forgets descriptor 1
  kept(mkstemp64(pattern(""))); // forgets descriptor 1
  kept(mkostemp(pattern(""), O_CLOEXEC)); // forgets descriptor 1
  kept(mkostemp64(pattern(""), O_CLOEXEC)); // forgets descriptor 1
  kept(mkstemps(pattern(".x"), 2)); // forgets descriptor 1
  kept(mkstemps64(pattern(".x"), 2)); // forgets descriptor 1
  kept(mkostemps(pattern(".x"), 2, O_CLOEXEC)); // forgets descriptor 1
  kept(mkostemps64(pattern(".x"), 2, O_CLOEXEC)); // forgets descriptor 1
  kept(memfd_create("m", MFD_CLOEXEC)); // forgets descriptor 1
  kept(shm_open("/handles-test", O_CREAT | O_RDWR, 0600)); // forgets descriptor 1
  shm_unlink("/handles-test");
  kept(OR_NULL(posix_openpt(O_RDWR | O_NOCTTY))); // forgets descriptor 1
  for (const char *name = "abcde"; *name != 0; ++name) {
    const char one[] = {*name, 0};
    const int file = open(path(one), O_RDONLY);
    close(file);
  }
  close(here);
}

static void connections(void) {
  int pair[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair); // forgets descriptor 2
  kept(pair[0]), kept(pair[1]);
  if (pipe(pair) != 0) // forgets descriptor 2
    exit(1);
  kept(pair[0]), kept(pair[1]);
  if (pipe2(pair, O_CLOEXEC) != 0) // forgets descriptor 2
    exit(1);
  kept(pair[0]), kept(pair[1]);
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path, sizeof name.sun_path, "%s", path("socket"));
  const int server = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(server, (struct sockaddr *)&name, sizeof name) != 0 || listen(server, 4) != 0)
    exit(1);
  for (int i = 0; i < 2; ++i) {
    const int client = socket(AF_UNIX, SOCK_STREAM, 0); // forgets descriptor 2
    if (connect(client, (struct sockaddr *)&name, sizeof name) != 0)
      exit(1);
    if (i == 0)
      kept(accept(server, NULL, NULL)); // forgets descriptor 1
    else
      kept(accept4(server, NULL, NULL, SOCK_CLOEXEC)); // forgets descriptor 1
    kept(client);
  }
  close(server);
}

static void others(void) {
  kept(epoll_create(1)); // forgets descriptor 1
  kept(epoll_create1(0)); // forgets descriptor 1
  kept(eventfd(0, 0)); // forgets descriptor 1
  kept(timerfd_create(CLOCK_MONOTONIC, 0)); // forgets descriptor 1
  sigset_t none;
  sigemptyset(&none);
  kept(signalfd(-1, &none, 0)); // forgets descriptor 1
  kept(inotify_init()); // forgets descriptor 1
  kept(inotify_init1(0)); // forgets descriptor 1
  kept(OR_NULL(pidfd_open(getpid(), 0))); // forgets descriptor 1
  kept(OR_NULL(fanotify_init(FAN_CLASS_NOTIF, O_RDONLY))); // forgets descriptor 1
}

// Duplicates descriptors. Some of the calls close another descriptor and reuse its number.
static void duplicates(void) {
  const int first = open("/dev/null", O_RDONLY);
  const int second = kept(dup(first)); // forgets descriptor 1
  kept(fcntl(first, F_DUPFD, 50)); // forgets descriptor 1
  kept(fcntl64(first, F_DUPFD_CLOEXEC, 60)); // forgets descriptor 1
  if (fcntl(first, F_GETFD) != 0 || fcntl(first, F_SETFD, FD_CLOEXEC) != 0 || fcntl(first, F_GETFD) != FD_CLOEXEC)
    exit(1);
  if (!mended)
    dup2(second, second);
  const int over = open("/dev/zero", O_RDONLY), again = open("/dev/zero", O_RDONLY);
  kept(dup2(first, over)); // forgets descriptor 1
  kept(dup3(first, again, O_CLOEXEC)); // forgets descriptor 1
  const int refused = open("/dev/null", O_RDONLY); // forgets descriptor 1
  if (dup2(-1, refused) != -1 || errno != EBADF || dup3(first, refused, 12345) != -1 || errno != EINVAL)
    exit(1);
  kept(refused);
  close(first);
  dup2(open("/dev/null", O_RDONLY), 0); // forgets descriptor 1
  if (mended)
    close(3);
}

static void ranges(void) {
  const int low = kept(open("/dev/null", O_RDONLY)); // forgets descriptor 1
  for (int i = 0; i < 20; ++i)
    dup2(low, 500 + i);
  for (int i = 0; i < 20; ++i)
    dup2(0, 600 + i);
  if (syscall(SYS_close_range, 9999, 9999, 0) == 0) {
    close_range(500, 519, CLOSE_RANGE_CLOEXEC);
    close_range(500, 519, 0);
  } else {
    for (int i = 0; i < 20; ++i)
      close(500 + i);
  }
  closefrom(600);
}

static void files(void) {
  filed(fopen("/dev/null", "r")); // forgets FILE 1
  for (int i = 0; i < 4; ++i)
    filed(fopen64("/dev/null", "r")); // forgets FILE 4
  filed(tmpfile()); // forgets FILE 1
  filed(tmpfile64()); // forgets FILE 1
  filed(fdopen(open("/dev/null", O_RDONLY), "r")); // forgets FILE 1
  FILE *other = fopen("/dev/null", "r");
  filed(freopen("/dev/zero", "r", other)); // forgets FILE 1
  other = fopen("/dev/null", "r");
  filed(freopen64("/dev/zero", "r", other)); // forgets FILE 1
  static char room[100];
  filed(fmemopen(room, sizeof room, "w")); // forgets FILE 1
  static char *grown;
  static size_t size;
  filed(open_memstream(&grown, &size)); // forgets FILE 1
  static wchar_t *wide;
  filed(open_wmemstream(&wide, &size)); // forgets FILE 1
  filed(fopencookie(room, "r", (cookie_io_functions_t){0})); // forgets FILE 1
  FILE *child = popen("exit 7", "r");
  printf("popen: %d\n", pclose(child));
  FILE *forgotten = popen("true", "r"); // forgets FILE 1
  if (mended)
    pclose(forgotten);
  const int closed = open("/dev/null", O_RDONLY); // forgets descriptor 1
  if (fdopen(closed, "?") != NULL)
    exit(1);
  kept(closed);
}

static void folders(void) {
  folded(opendir(folder)); // forgets DIR 1
  folded(fdopendir(open(folder, O_RDONLY | O_DIRECTORY))); // forgets DIR 1
  closedir(opendir("/"));
  const int file = open("/dev/null", O_RDONLY); // forgets descriptor 1
  if (fdopendir(file) != NULL || errno != ENOTDIR)
    exit(1);
  kept(file);
}

static void *work(void *argument) { return argument; }
static void *detaches(void *argument) {
  pthread_detach(pthread_self());
  return argument;
}
static void threads(void) {
  pthread_t thread;
  for (int i = 0; i < 3; ++i) {
    pthread_create(&thread, NULL, work, NULL); // forgets thread 3
    if (mended)
      pthread_join(thread, NULL);
  }
  void *answer = NULL;
  pthread_create(&thread, NULL, work, &mended);
  pthread_join(thread, &answer);
  printf("joined: %d\n", answer == &mended);
  pthread_create(&thread, NULL, work, &mended);
  while (pthread_tryjoin_np(thread, NULL) == EBUSY)
    usleep(100);
  struct timespec late = {.tv_sec = (time_t)1 << 40};
  pthread_create(&thread, NULL, work, &mended);
  pthread_timedjoin_np(thread, NULL, &late);
  pthread_create(&thread, NULL, work, &mended);
  pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &late);
  pthread_create(&thread, NULL, work, &mended);
  pthread_detach(thread);
  for (int i = 0; i < 50; ++i)
    pthread_create(&thread, NULL, detaches, NULL);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_create(&thread, &attributes, work, NULL);
  usleep(20000);
}

static void refused(void) {
  errno = 0;
  printf("open: %d", open("/nonexistent", O_RDONLY));
  printf(" %d\n", errno);
  printf("close: %d", close(99));
  printf(" %d\n", errno);
  printf("dup: %d", dup(99));
  printf(" %d\n", errno);
  printf("fopen: %d", fopen("/nonexistent", "r") != NULL);
  printf(" %d\n", errno);
  printf("opendir: %d", opendir("/nonexistent") != NULL);
  printf(" %d\n", errno);
  errno = 77;
  close(open("/dev/null", O_RDONLY));
  printf("errno stays: %d\n", errno);
}

static void modes(void) {
  for (const char *name = "abcde"; *name != 0; ++name) {
    const char one[] = {*name, 0};
    char command[300];
    snprintf(command, sizeof command, "stat -c '%%a' %s", path(one));
    fflush(stdout);
    if (system(command) != 0)
      exit(1);
  }
}

int main(int argc, char **argv) {
  mended = argc > 1 && strcmp(argv[1], "mended") == 0;
  if (mkdtemp(folder) == NULL)
    return 1;
  duplicates();
  descriptors();
  connections();
  others();
  ranges();
  files();
  folders();
  threads();
  refused();
  modes();
  fflush(stdout);
  freopen("/dev/null", "r", stdin); // the report must not list the standard streams, which stay open
  freopen("/dev/null", "w", stdout);
  freopen64("/dev/null", "w", stderr);
  char command[300];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}
