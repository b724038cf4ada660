"""python -m enhope: the command `enhope`, which a wheel contains and a system may have as a package."""

import os
import shutil
import sys


def main():
    command = os.path.join(os.path.dirname(__file__), "enhope")
    if not os.path.exists(command):
        command = shutil.which("enhope")
    if not command:
        sys.exit("the command enhope was not found beside the Python package or in PATH; install its package, or a wheel")
    os.execv(command, ["enhope", *sys.argv[1:]])


if __name__ == "__main__":
    main()
