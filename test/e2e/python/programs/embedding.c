// Embeds Python. Keeps blocks that Python code asks for by `keep(count)`, and other blocks. Runs each part in a child
// of its own, and prints how the child ended.
#include <Python.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBytes = 20000, kOtherBytes = 30000 };

// Each block stays alive at the end.
static void keepBlocks(long count, size_t bytes) {
  static void *volatile last;
  for (long i = 0; i < count; ++i)
    last = memset(malloc(bytes), 1, bytes);
  (void)last;
}

// Keeps blocks that no Python code asks for.
static void keepOthers(long count) { keepBlocks(count, kOtherBytes); }

// While a thread is in Python code, the thread that made its state allocates.
static sem_t is_inside, may_leave;
static int is_watched;

static PyObject *keep(PyObject *self, PyObject *count) {
  (void)self;
  if (is_watched) {
    sem_post(&is_inside);
    sem_wait(&may_leave);
  }
  keepBlocks(PyLong_AsLong(count), kBytes);
  Py_RETURN_NONE;
}
static PyMethodDef keep_method = {"keep", keep, METH_O, NULL};

static void check(int is_right, const char *what) {
  if (is_right)
    return;
  fprintf(stderr, "failed: %s\n", what);
  _exit(1);
}

// Runs code of the file /embedded/NAME.py, whose function `in_NAME` keeps this many blocks.
static void run(const char *name, long count) {
  char file[64], text[256];
  snprintf(file, sizeof file, "/embedded/%s.py", name);
  snprintf(text, sizeof text, "def in_%s(count):\n  keep(count)\nin_%s(%ld)\n", name, name, count);
  PyObject *names = PyDict_New(), *function = PyCFunction_New(&keep_method, NULL);
  PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins());
  PyDict_SetItemString(names, "keep", function);
  PyObject *code = Py_CompileString(text, file, Py_file_input);
  PyObject *result = code != NULL ? PyEval_EvalCode(code, names, names) : NULL;
  if (result == NULL)
    PyErr_Print();
  check(result != NULL, name);
  Py_DECREF(result);
  Py_DECREF(code);
  Py_DECREF(function);
  Py_DECREF(names);
}

static pthread_t begin(void *(*function)(void *), void *argument) {
  pthread_t thread;
  check(pthread_create(&thread, NULL, function, argument) == 0, "pthread_create");
  return thread;
}

static void inThread(void *(*function)(void *), void *argument) {
  check(pthread_join(begin(function, argument), NULL) == 0, "pthread_join");
}

static void endState(PyThreadState *state) {
  PyEval_RestoreThread(state);
  PyThreadState_Clear(state);
  PyThreadState_DeleteCurrent();
}

static void runAs(PyThreadState *state, const char *name, long count) {
  PyEval_RestoreThread(state);
  run(name, count);
  PyEval_SaveThread();
}

// One thread uses two thread states in turn.
static void *useTwoStates(void *interpreter) {
  PyThreadState *first = PyThreadState_New(interpreter), *second = PyThreadState_New(interpreter);
  for (int i = 0; i < 10; ++i) {
    runAs(first, "first_state", 1);
    runAs(second, "second_state", 1);
    keepOthers(1);
  }
  endState(second);
  endState(first);
  keepOthers(10);
  return NULL;
}

static void states(PyThreadState *main_state) { inThread(useTwoStates, PyThreadState_GetInterpreter(main_state)); }

static void *useAndEnd(void *state) {
  runAs(state, "other_thread", 10);
  endState(state);
  return NULL;
}

// This thread makes a state, and another thread uses and frees it. Before Python 3.12 this thread then still has the
// freed state.
static void *giveState(void *interpreter) {
  PyThreadState *given = PyThreadState_New(interpreter), *own = PyThreadState_New(interpreter);
  is_watched = 1;
  const pthread_t user = begin(useAndEnd, given);
  sem_wait(&is_inside);
  keepOthers(10);
  is_watched = 0;
  sem_post(&may_leave);
  pthread_join(user, NULL);
  keepOthers(10);
  runAs(own, "own_state", 10);
  endState(own);
  keepOthers(10);
  return NULL;
}

static void freed(PyThreadState *main_state) {
  sem_init(&is_inside, 0, 0);
  sem_init(&may_leave, 0, 0);
  inThread(giveState, PyThreadState_GetInterpreter(main_state));
}

static void *enter(void *unused) { // unused: the main thread's state
  for (int i = 0; i < 10; ++i) {
    const PyGILState_STATE state = PyGILState_Ensure();
    run("foreign_thread", 1);
    PyGILState_Release(state);
    keepOthers(1);
  }
  return unused;
}

// A thread of the program enters Python and leaves it.
static void foreign(PyThreadState *main_state) { inThread(enter, main_state); }

// Python ends and begins again.
static void twice(PyThreadState *main_state) {
  const char *const names[] = {"life_1", "life_2", "life_3"};
  PyEval_RestoreThread(main_state);
  for (int i = 0; i < 3; ++i) {
    run(names[i], 10);
    check(Py_FinalizeEx() == 0, "Py_FinalizeEx");
    keepOthers(10);
    Py_InitializeEx(0);
  }
}

static const struct Part {
  const char *name;
  void (*run)(PyThreadState *main_state);
} kParts[] = {{"states", states}, {"freed", freed}, {"foreign", foreign}, {"twice", twice}};

int main(void) {
  for (size_t i = 0; i < sizeof kParts / sizeof *kParts; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      Py_InitializeEx(0);
      kParts[i].run(PyEval_SaveThread());
      _exit(0);
    }
    int status;
    check(child > 0 && waitpid(child, &status, 0) == child, "fork");
    printf("%s %d\n", kParts[i].name, status);
    fflush(stdout);
  }
  return 0;
}
