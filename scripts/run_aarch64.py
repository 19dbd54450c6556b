#!/usr/bin/env python3
"""Runs a command in a namespace where the command and its children can start programs for AArch64 like native programs.

    run_aarch64.py QEMU SYSROOT COMMAND...

The command runs in a user namespace with a binfmt_misc of its own (Linux 6.7). There QEMU (a static qemu-aarch64) is
registered as the interpreter of AArch64 programs. QEMU looks for libraries in SYSROOT. The settings of the machine do not
change. Exit status: the command's own; 77 if the kernel does not allow such a namespace.
"""
import ctypes
import os
import sys

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
FOLDER = "/proc/sys/fs/binfmt_misc"
# The first bytes of an ELF file for AArch64: 64 bits, little-endian, executable or shared.
MAGIC = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\xb7\x00"
MASK = b"\xff" * 7 + b"\x00" + b"\xff" * 8 + b"\xfe\xff\xff\xff"


def escaped(data):
    return "".join(f"\\x{byte:02x}" for byte in data)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def map_ids(pid):
    """Maps users and groups in the namespace of the child, because some tests switch to other users. Only a process outside the
    namespace may map foreign users. So the parent calls this function."""
    if os.geteuid() == 0:
        uids = gids = "0 0 65536"
    else:
        write(f"/proc/{pid}/setgroups", "deny")
        uids, gids = f"0 {os.geteuid()} 1", f"0 {os.getegid()} 1"
    write(f"/proc/{pid}/uid_map", uids)
    write(f"/proc/{pid}/gid_map", gids)


def become(qemu, sysroot, command, mapped, asking):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "no user namespace")
    os.write(asking, b"x")
    if not os.read(mapped, 1):
        raise OSError("no mapping of users")
    if libc.mount(b"binfmt_misc", FOLDER.encode(), b"binfmt_misc", 0, None) != 0:
        raise OSError(ctypes.get_errno(), "binfmt_misc cannot be mounted in a user namespace (Linux 6.7 can)")
    write(f"{FOLDER}/register", f":msleaks-aarch64:M::{escaped(MAGIC)}:{escaped(MASK)}:{qemu}:F")
    os.execvpe(command[0], command, {**os.environ, "QEMU_LD_PREFIX": sysroot})


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    qemu, sysroot, command = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), sys.argv[3:]
    (ask_read, ask_write), (map_read, map_write) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ask_read)
        os.close(map_write)
        try:
            become(qemu, sysroot, command, map_read, ask_write)
        except OSError as error:
            print(f"skipped: {error.strerror or error}", file=sys.stderr)
        os._exit(77)
    os.close(ask_write)
    os.close(map_read)
    if os.read(ask_read, 1):
        map_ids(pid)
        os.write(map_write, b"x")
    os.close(map_write)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


if __name__ == "__main__":
    main()
