#include "memory_report.h"

namespace {
int64_t reported[32];
}

void c10::reportMemoryUsageToProfiler(void *, int64_t bytes, PYTORCH_SUM, PYTORCH_SUM, Device device) {
  reported[static_cast<int>(device.type)] += bytes;
}

int64_t c10::reportedBytes(DeviceType type) { return reported[static_cast<int>(type)]; }
