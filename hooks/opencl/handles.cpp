// Hooks of functions of OpenCL that open, retain and release handles: contexts, queues, programs, samplers and events.
// Launches, copies and accesses also open events, which their own hooks record (opencl.cpp). opencl/source.cpp hooks
// the functions that retain and release programs.
#include "opencl/calls.h"

using namespace msleaks::hooks::cl;

MSL_HOOK(libOpenCL, Context, clCreateContext, (Properties, unsigned, const Device *, Notify, void *, int *))
MSL_HOOK(libOpenCL, Context, clCreateContextFromType, (Properties, Bits, Notify, void *, int *))
MSL_HOOK(libOpenCL, int, clRetainContext, (Context))
MSL_HOOK(libOpenCL, int, clReleaseContext, (Context))

MSL_HOOK(libOpenCL, Queue, clCreateCommandQueue, (Context, Device, Bits, int *))
MSL_HOOK(libOpenCL, Queue, clCreateCommandQueueWithProperties, (Context, Device, Properties, int *))
MSL_HOOK(libOpenCL, int, clRetainCommandQueue, (Queue))
MSL_HOOK(libOpenCL, int, clReleaseCommandQueue, (Queue))

MSL_HOOK(libOpenCL, Program, clCreateProgramWithSource, (Context, unsigned, Text *, const size_t *, int *))
MSL_HOOK(libOpenCL, Program, clCreateProgramWithBinary,
         (Context, unsigned, const Device *, const size_t *, const void **, int *, int *))
MSL_HOOK(libOpenCL, Program, clCreateProgramWithIL, (Context, const void *, size_t, int *))
MSL_HOOK(libOpenCL, Program, clCreateProgramWithBuiltInKernels, (Context, unsigned, const Device *, Text, int *))
MSL_HOOK(libOpenCL, Program, clLinkProgram,
         (Context, unsigned, const Device *, Text, unsigned, const Program *, Notify, void *, int *))

MSL_HOOK(libOpenCL, Sampler, clCreateSampler, (Context, unsigned, unsigned, unsigned, int *))
MSL_HOOK(libOpenCL, Sampler, clCreateSamplerWithProperties, (Context, Properties, int *))
MSL_HOOK(libOpenCL, int, clRetainSampler, (Sampler))
MSL_HOOK(libOpenCL, int, clReleaseSampler, (Sampler))

MSL_HOOK(libOpenCL, Event, clCreateUserEvent, (Context, int *))
MSL_HOOK(libOpenCL, int, clRetainEvent, (Event))
MSL_HOOK(libOpenCL, int, clReleaseEvent, (Event))
MSL_HOOK(libOpenCL, int, clEnqueueMarker, (Queue, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueMarkerWithWaitList, (Queue, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueBarrierWithWaitList, (Queue, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueMigrateMemObjects, (Queue, unsigned, const Mem *, Bits, unsigned, Events, Event *))
MSL_HOOK(libOpenCL, int, clEnqueueSVMMigrateMem,
         (Queue, unsigned, const void **, const size_t *, Bits, unsigned, Events, Event *))
