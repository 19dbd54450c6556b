// Hooks of HIP's functions whose rows say everything.
#include "core/rows.h"
#include "hip/rows.h"

#define MSL_PART_OBJECTS
#define MSL_PART_PLAIN
#include "msleaks/abi/functions/hip.def"
