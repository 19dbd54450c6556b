// torch_npu and MindSpore report their pools only if LD_PRELOAD names a libascend_kernel_hook.so. This empty library
// has that name. marks/mstx.cpp receives the reports.
