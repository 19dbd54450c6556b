// Declares the types in the rows of CANN (msleaks/abi/functions/acl.def).
#pragma once

using Stream = void *;
using Handle = void *;
using Config = void *;
