"""Become another program that does not outlive its parent, as the user the parent chose. Run as a script.

Arguments: the parent's pid, the number of the signal to get when it dies, an identity, the command. An identity
is `keep`, `UID:GID` (as root), or `namespace`: look like nobody to ourselves while files stay those of who we are.
The order matters: the kernel forgets the death signal whenever credentials change, and keeps it across exec.

Standard library only, and started with `-I -S`, because it runs before every process of a stack.
"""

import ctypes
import os
import sys
import time

PR_SET_PDEATHSIG = 1  # linux/prctl.h
NOBODY = 65534  # the overflow user every Linux knows
POLL_SECONDS = 0.5  # where the kernel has no death signal: soon enough that a restart finds the ports free
PARENT_GONE = 70


def become(identity: str) -> None:
    """Take on `identity`. Raises OSError when the system does not allow it."""
    if identity == "keep":
        return
    if identity == "namespace":
        maps = {"setgroups": "deny", "uid_map": f"{NOBODY} {os.geteuid()} 1", "gid_map": f"{NOBODY} {os.getegid()} 1"}
        os.unshare(os.CLONE_NEWUSER)
        for name, line in maps.items():
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123 - pathlib costs 10 ms here
                file.write(line)
        return
    uid, gid = identity.split(":")
    os.setgroups([])
    os.setgid(int(gid))
    os.setuid(int(uid))


def tie(parent: int, signal_number: int) -> None:
    """Arrange that this process gets the signal when `parent` dies; ends at once when it is dead already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
    else:
        watch(parent, signal_number)
    if os.getppid() != parent:
        sys.exit(PARENT_GONE)


def watch(parent: int, signal_number: int) -> None:
    """Leave a small process behind that sends the signal; for systems whose kernel cannot."""
    target = os.getpid()
    if os.fork() != 0:
        return
    while os.getppid() == target:
        try:
            os.kill(parent, 0)
        except ProcessLookupError:
            os.kill(target, signal_number)
            break
        time.sleep(POLL_SECONDS)
    os._exit(0)


def main() -> None:
    """Read the arguments and turn into the command; never returns."""
    parent, signal_number, identity, *command = sys.argv[1:]
    become(identity)
    tie(int(parent), int(signal_number))
    os.execv(command[0], command)  # noqa: S606 - the whole purpose of this file


if __name__ == "__main__":
    main()
