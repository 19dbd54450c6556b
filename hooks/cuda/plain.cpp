// Hooks of CUDA's functions whose rows say everything. If the runtime library is linked statically, the hooks of the
// driver record its calls.
#include "core/rows.h"
#include "cuda/rows.h"

#ifdef MSL_VENDOR_HEADERS
static_assert(offsetof(cudaLaunchConfig_t, blockDim) == offsetof(msleaks::abi::LaunchConfig, block));
static_assert(offsetof(cudaLaunchConfig_t, dynamicSmemBytes) == offsetof(msleaks::abi::LaunchConfig, shared_bytes));
static_assert(offsetof(cudaLaunchConfig_t, stream) == offsetof(msleaks::abi::LaunchConfig, stream));
#endif

#define MSL_PART_OBJECTS
#define MSL_PART_PLAIN
#include "msleaks/abi/functions/cuda.def"
