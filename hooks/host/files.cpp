// Hooks of the C library's functions for streams (FILE) and folders (DIR). If such a function opens a descriptor
// itself, that call passes through no hook.
#include "core/own_hook.h"

#include <cstddef>

using File = void *;
using Folder = void *;

struct _IO_FILE;

struct Cookie {
  void *functions[4];
};

// freopen of a standard stream is not recorded, because the program need not close such a stream.
extern "C" {
extern File stdin, stdout, stderr;
}

namespace {
bool isStandard(File file) { return file == stdin || file == stdout || file == stderr; }
} // namespace

MSL_HOOK(libc, File, fopen, (const char *, const char *))
MSL_HOOK(libc, File, fopen64, (const char *, const char *))
MSL_HOOK(libc, File, fdopen, (int, const char *))
MSL_HOOK(libc, File, tmpfile, ())
MSL_HOOK(libc, File, tmpfile64, ())
MSL_HOOK(libc, File, popen, (const char *, const char *))
MSL_HOOK(libc, File, fmemopen, (void *, size_t, const char *))
MSL_HOOK(libc, File, open_memstream, (char **, size_t *))
MSL_HOOK(libc, _IO_FILE *, open_wmemstream, (wchar_t **, size_t *))
MSL_HOOK(libc, File, fopencookie, (void *, const char *, Cookie))
MSL_HOOK(libc, int, fclose, (File))
MSL_HOOK(libc, int, pclose, (File))

MSL_OWN_HOOK(libc, File, freopen, (const char *path, const char *mode, File file)) {
  return isStandard(file) ? MSL_REAL(File, freopen, path, mode, file) : MSL_AS_ROWS(File, freopen, path, mode, file);
}
MSL_OWN_HOOK(libc, File, freopen64, (const char *path, const char *mode, File file)) {
  return isStandard(file) ? MSL_REAL(File, freopen64, path, mode, file)
                          : MSL_AS_ROWS(File, freopen64, path, mode, file);
}

MSL_HOOK(libc, Folder, opendir, (const char *))
MSL_HOOK(libc, Folder, fdopendir, (int))
MSL_HOOK(libc, int, closedir, (Folder))
