// torch_npu and MindSpore tell of their pools only where LD_PRELOAD names a libascend_kernel_hook.so. This is one: what
// they tell is taken by mstx.cpp.
