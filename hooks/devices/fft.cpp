// Hooks of functions that make and destroy plans of cuFFT and hipFFT. A plan of cuFFT is a number.
#include "msleaks/hook.h"

using Sizes = int *;

#define MSL_FFT(fft, Plan)                                                                                             \
  MSL_HOOK(lib##fft, int, fft##Create, (Plan *))                                                                       \
  MSL_HOOK(lib##fft, int, fft##Plan1d, (Plan *, int, int, int))                                                        \
  MSL_HOOK(lib##fft, int, fft##Plan2d, (Plan *, int, int, int))                                                        \
  MSL_HOOK(lib##fft, int, fft##Plan3d, (Plan *, int, int, int, int))                                                   \
  MSL_HOOK(lib##fft, int, fft##PlanMany, (Plan *, int, Sizes, Sizes, int, int, Sizes, int, int, int, int))             \
  MSL_HOOK(lib##fft, int, fft##Destroy, (Plan))

MSL_FFT(cufft, int)
MSL_FFT(hipfft, void *)
