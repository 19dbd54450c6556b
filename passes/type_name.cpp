#include "type_name.h"
