// Allocates memory without malloc and mmap: by sbrk, and as shared memory of System V.
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

int main(void) {
  sbrk(4096);
  const int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  void *memory = shmat(id, 0, 0);
  shmctl(id, IPC_RMID, 0);
  return memory == (void *)-1;
}
