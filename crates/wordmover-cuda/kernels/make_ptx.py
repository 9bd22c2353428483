#!/usr/bin/env python3
"""Compiles kernels.cu to few_sinks.ptx and many_sinks.ptx, and batch.cu to batch.ptx, with NVRTC,
which needs no CUDA toolkit:

    pip install nvidia-cuda-nvrtc-cu12==12.4.127
    python3 make_ptx.py

Turing (compute_75) is the oldest GPU the PTX runs on, CUDA 12.4 (driver 550) the oldest
driver. Nothing is fused (--fmad=false), so that the twin compiled for the host has the same
bits.
"""

import ctypes
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
OPTIONS = ["--gpu-architecture=compute_75", "--fmad=false", "--std=c++17", "-default-device",
           f"--include-path={HERE}"]


def library():
    try:
        import nvidia.cuda_nvrtc

        folder = pathlib.Path(list(nvidia.cuda_nvrtc.__path__)[0]) / "lib"
        return ctypes.CDLL(str(folder / "libnvrtc.so.12"))
    except ImportError:
        sys.exit("error: nvidia-cuda-nvrtc-cu12 is not installed")


def compiled(nvrtc, name, options):
    source = (HERE / name).read_bytes()
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, name.encode(), 0, None, None)
    options = [option.encode() for option in options]
    array = (ctypes.c_char_p * len(options))(*options)
    status = nvrtc.nvrtcCompileProgram(program, len(options), array)
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if status:
        sys.exit(f"error: {name} does not compile\n{log.value.decode()}")
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    return ptx.value


def main():
    nvrtc = library()
    (HERE / "few_sinks.ptx").write_bytes(compiled(nvrtc, "kernels.cu", OPTIONS))
    many = OPTIONS + ["-DMANY_SINKS"]
    (HERE / "many_sinks.ptx").write_bytes(compiled(nvrtc, "kernels.cu", many))
    (HERE / "batch.ptx").write_bytes(compiled(nvrtc, "batch.cu", OPTIONS))


if __name__ == "__main__":
    main()
