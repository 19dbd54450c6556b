// At the end, pointers of different kinds point to some blocks, and no pointer points to others. With a number, the
// program also has a linked list with this many bytes. With "slow", it sleeps before its end. Comments mark lines.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct Node {
  struct Node *next;
  char *text;
};

struct Table {
  long count;
  struct {
    struct Node *node;
    char *name;
  } entries[4];
};

static struct Node *cache; // the global
static struct Table *table;
static __thread char *local;
static pthread_barrier_t ready;
static char *interior;
static uintptr_t hidden;
static struct Node *list;

// Hides a block from the optimiser, so that the compiler does not delete the allocation.
__attribute__((noinline)) static void *used(void *block) {
  __asm__ volatile("" : "+r"(block) : : "memory");
  return block;
}
__attribute__((noinline)) static void forget(void) {
  char stack[4096];
  memset(stack, 0, sizeof stack);
  used(stack);
}

__attribute__((noinline)) static void lose(void) {
  used(malloc(101)); // lost
  struct Node *head = used(calloc(1, sizeof *head)); // head
  head->text = used(malloc(102)); // below the head
  struct Node *one = used(calloc(1, sizeof *one)); // first of the circle
  struct Node *two = used(calloc(2, sizeof *two)); // second of the circle
  one->next = two;
  two->next = one;
  hidden = (uintptr_t)used(malloc(103)) ^ 0x5555555555555555; // xor
}

__attribute__((noinline)) static void hold(void) {
  static char *in_function;
  cache = used(calloc(1, sizeof *cache)); // held by a global
  cache->text = used(malloc(201)); // held by the cache
  in_function = used(malloc(202)); // held by a static
  used(&in_function);
  local = used(malloc(203)); // held by thread-local storage
  used(&local);
  interior = (char *)used(malloc(204)) + 100; // held from inside
  table = calloc(1, sizeof *table); // held as a table
  table->entries[2].name = used(malloc(207)); // held by an entry
  used(&cache), used(&interior), used(&table);
}

static void *sleeper(void *argument) {
  char *volatile on_stack = used(malloc(205)); // held by a stack
  static __thread char *of_thread;
  of_thread = used(malloc(206)); // held by a thread's own storage
  used(&of_thread);
  for (int i = 0; i < 8; ++i) // overwrites the last blocks that msleaks remembers for this running thread
    free(used(malloc(1)));
  pthread_barrier_wait(&ready);
  for (;;)
    pthread_barrier_wait(argument);
  return on_stack;
}

static void *passer_by(void *argument) {
  char *volatile gone = used(malloc(104)); // lost with its thread
  used((void *)gone);
  return argument;
}

__attribute__((noinline)) static void run(void (*part)(void)) {
  part();
  forget();
}

int main(int argc, char **argv) {
  static pthread_barrier_t never;
  pthread_t thread;
  run(lose);
  run(hold);
  pthread_create(&thread, NULL, passer_by, NULL);
  pthread_join(thread, NULL);
  pthread_barrier_init(&ready, NULL, 2);
  pthread_barrier_init(&never, NULL, 2);
  pthread_create(&thread, NULL, sleeper, &never);
  pthread_barrier_wait(&ready);
  for (long left = argc > 1 ? atol(argv[1]) : 0; left > 0; left -= 1024) {
    struct Node *node = used(calloc(1, 1024)); // list
    node->next = list;
    list = node;
  }
  if (argc > 1 && strcmp(argv[1], "slow") == 0)
    sleep(3);
  forget();
  puts("done");
  return 0;
}
