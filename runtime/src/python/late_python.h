// Finds a Python that the program loads later, such as the libpython of a plug-in.
#pragma once

#include "../image.h"

namespace msleaks::runtime::python {

// Looks for Python in an image that is new in paths, unless Python is known. Call before the image gets a number, and
// without locks of the runtime.
void searchIn(const ImagePlace &) noexcept;

// Forgets Python if it was in this image, which was unloaded. It may be loaded again at another address.
void forgetIn(const Image &) noexcept;

} // namespace msleaks::runtime::python
