"""Compiles for CUDA and HIP with clang on a machine without their SDKs, and finds NVIDIA's tools in its packages of PyPI. The
sources contain the declarations that they need of an SDK."""
from msleaks_e2e import REPOSITORY, run, skip

OPTIONS = {
    "cuda": ("-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-path=/nowhere", "--cuda-feature=+ptx78", "-Xclang", "-target-sdk-version=12.0"),
    "hip": ("-x", "hip", "-nogpuinc", "-nogpulib"),
}
ARCHITECTURE = {"cuda": "--cuda-gpu-arch=", "hip": "--offload-arch="}
USUAL = {"cuda": "sm_90", "hip": "gfx90a"}


def options_for(topic, processor=None):
    """Compiles for the device and the host; `processor` replaces the usual one."""
    return (*OPTIONS[topic], ARCHITECTURE[topic] + (processor or USUAL[topic]))


def device_options(topic, processor=None):
    return (*options_for(topic, processor), "--cuda-device-only")


def cuda_tool(name):
    """The path of ptxas or nvdisasm, or a skip."""
    found = run([REPOSITORY / f"test/standins/cuda/{name}.sh"])
    return found.stdout.strip() if found.returncode == 0 else skip(f"CUDA's {name} cannot be had")
