// Hooks of functions that make and destroy plans of cuFFT and hipFFT. A plan of cuFFT is a number.
#include "msleaks/hook.h"

using cufftHandle = int;
using hipfftHandle = void *;
using Sizes = int *;

MSL_HOOK(libcufft, int, cufftCreate, (cufftHandle *))
MSL_HOOK(libcufft, int, cufftPlan1d, (cufftHandle *, int, int, int))
MSL_HOOK(libcufft, int, cufftPlan2d, (cufftHandle *, int, int, int))
MSL_HOOK(libcufft, int, cufftPlan3d, (cufftHandle *, int, int, int, int))
MSL_HOOK(libcufft, int, cufftPlanMany, (cufftHandle *, int, Sizes, Sizes, int, int, Sizes, int, int, int, int))
MSL_HOOK(libcufft, int, cufftDestroy, (cufftHandle))

MSL_HOOK(libhipfft, int, hipfftCreate, (hipfftHandle *))
MSL_HOOK(libhipfft, int, hipfftPlan1d, (hipfftHandle *, int, int, int))
MSL_HOOK(libhipfft, int, hipfftPlan2d, (hipfftHandle *, int, int, int))
MSL_HOOK(libhipfft, int, hipfftPlan3d, (hipfftHandle *, int, int, int, int))
MSL_HOOK(libhipfft, int, hipfftPlanMany, (hipfftHandle *, int, Sizes, Sizes, int, int, Sizes, int, int, int, int))
MSL_HOOK(libhipfft, int, hipfftDestroy, (hipfftHandle))
