// Imitates the functions of CUDA's driver that a program with a default stream for each thread calls.
#define STANDIN_IN_libcudart(...)
#define STANDIN_IN_libcuda STANDIN_FORM
#define STANDIN_IN_libcufft(...)
#include "../common/per_thread.h"

#include "cuda/rows.h"

using CUDA_MEMCPY3D_BATCH_OP = void;
#include "msleaks/abi/functions/cuda.def"
