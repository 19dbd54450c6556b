// Objects that loader.cpp makes and driver.cpp uses.
#pragma once

#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

// The object behind a handle. In a real driver, it begins with the driver's table of functions.
struct Object {
  const void *functions = nullptr;
  void *argument = nullptr; // of a kernel
};
