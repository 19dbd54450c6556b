// Declares the part of OpenCL's API that the tests call.
#pragma once
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_bitfield;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;

cl_mem clCreateBuffer(cl_context context, cl_bitfield flags, size_t size, void *host, cl_int *status);
cl_mem clCreateBufferWithProperties(cl_context context, const cl_bitfield *properties, cl_bitfield flags, size_t size,
                                    void *host, cl_int *status);
cl_mem clCreatePipe(cl_context context, cl_bitfield flags, cl_uint packet, cl_uint packets, const void *properties,
                    cl_int *status);
void *clSVMAlloc(cl_context context, cl_bitfield flags, size_t size, cl_uint alignment);
cl_int clReleaseMemObject(cl_mem block);
cl_int clRetainMemObject(cl_mem block);
void clSVMFree(cl_context context, void *block);
cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint waits, const cl_event *wait,
                              cl_event *event);
cl_int clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint waits, const cl_event *wait, cl_event *event);
cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem from, cl_uint blocking, size_t offset, size_t size, void *to,
                           cl_uint waits, const cl_event *wait, cl_event *event);
cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem to, cl_uint blocking, size_t offset, size_t size,
                            const void *from, cl_uint waits, const cl_event *wait, cl_event *event);
cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                           size_t size, cl_uint waits, const cl_event *wait, cl_event *event);
cl_int clEnqueueSVMMemcpy(cl_command_queue queue, cl_uint blocking, void *to, const void *from, size_t size,
                          cl_uint waits, const cl_event *wait, cl_event *event);
cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem to, const void *pattern, size_t pattern_size, size_t offset,
                           size_t size, cl_uint waits, const cl_event *wait, cl_event *event);
cl_int clEnqueueSVMMemFill(cl_command_queue queue, void *to, const void *pattern, size_t pattern_size, size_t size,
                           cl_uint waits, const cl_event *wait, cl_event *event);
#ifdef __cplusplus
}
#endif
