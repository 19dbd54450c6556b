"""Has clang's options to compile for CUDA and HIP without their SDKs. The sources declare the parts of an SDK that they need. Also
finds NVIDIA's tools in NVIDIA's packages of PyPI."""
from msleaks_e2e import REPOSITORY, run, skip

OPTIONS = {
    "cuda": ("-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-path=/nowhere", "--cuda-feature=+ptx78", "-Xclang", "-target-sdk-version=12.0"),
    "hip": ("-x", "hip", "-nogpuinc", "-nogpulib"),
}
ARCHITECTURE = {"cuda": "--cuda-gpu-arch=", "hip": "--offload-arch="}
USUAL = {"cuda": "sm_90", "hip": "gfx90a"}


def options_for(topic, processor=None):
    """Returns the options to compile for device and host. `processor` replaces the default processor."""
    return (*OPTIONS[topic], ARCHITECTURE[topic] + (processor or USUAL[topic]))


def device_options(topic, processor=None):
    return (*options_for(topic, processor), "--cuda-device-only")


def cuda_tool(name):
    """Returns the path of NVIDIA's tool with this name. Skips the test if the tool is not available."""
    found = run([REPOSITORY / f"test/standins/cuda/{name}.sh"])
    return found.stdout.strip() if found.returncode == 0 else skip(f"CUDA's {name} cannot be had")
