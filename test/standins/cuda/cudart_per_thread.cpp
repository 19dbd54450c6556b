// Imitates the functions of CUDA's runtime library that a program with a default stream for each thread calls.
#define STANDIN_IN_libcudart STANDIN_FORM
#define STANDIN_IN_libamdhip64 STANDIN_FORM
#define STANDIN_IN_libcuda(...)
#define STANDIN_IN_libcufft(...)
#define STANDIN_IN_libhipfft(...)
#include "../common/per_thread.h"

#include "cuda/rows.h"

using cudaMemcpy3DBatchOp = void;
#include "msleaks/abi/functions/cuda.def"
