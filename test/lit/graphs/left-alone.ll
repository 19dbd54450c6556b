; The pass must not count these functions (noprofile, available_externally, naked), neither for a host nor for a device.
; RUN: %opt -passes='msl-count<cfg>,verify' -S %s | FileCheck %s
; RUN: sed 's/x86_64-pc-linux-gnu/nvptx64-nvidia-cuda/' %s | %opt -passes='msl-count<cfg>,verify' -S | FileCheck %s
; CHECK-NOT: __msl_
target triple = "x86_64-pc-linux-gnu"

define void @asks() noprofile {
  ret void
}
define available_externally void @elsewhere() {
  ret void
}
define void @bare() naked {
  unreachable
}
