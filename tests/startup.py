"""Checks that the command starts fast: few shared libraries, a few milliseconds of CPU time.

usage: startup.py ENHOPE
"""

import os
import resource
import subprocess
import sys

LIBRARIES = 15
# CPU time of the fastest of RUNS runs: about 3 ms on an idle machine, more on a busy one.
MILLISECONDS = 10
RUNS = 30


def cpu_milliseconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (used.ru_utime + used.ru_stime)


def main():
    command = sys.argv[1]
    libraries = subprocess.run(["ldd", command], capture_output=True, text=True, check=True).stdout.splitlines()
    times = []
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    for _ in range(RUNS):
        before = cpu_milliseconds()
        process = os.posix_spawn(command, [command, "--version"], os.environ, file_actions=silent)
        if os.waitpid(process, 0)[1]:
            sys.exit(f"{command} --version failed")
        times.append(cpu_milliseconds() - before)
    times.sort()
    print(f"{command} --version: {len(libraries)} libraries, CPU time minimum {times[0]:.1f} ms, "
          f"median {times[RUNS // 2]:.1f} ms")
    if len(libraries) > LIBRARIES:
        print("\n".join(libraries))
        sys.exit(f"expected at most {LIBRARIES} libraries: load the new one on first use (src/base/plugin.h)")
    if times[0] > MILLISECONDS:
        sys.exit(f"expected at most {MILLISECONDS} ms of CPU time: profile the start of the command")


main()
