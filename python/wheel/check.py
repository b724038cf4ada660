"""Checks that the binaries of a wheel need only what its tag promises.

usage: check.py WHEEL

A wheel for manylinux_2_28 may need functions of glibc up to version 2.28 and the libraries that
every Linux has; others must be in the wheel. Exits 1 and lists what is not so.
"""

import os
import re
import subprocess
import sys
import tempfile
import zipfile

LARGEST = 25e6  # bytes
# of PEP 600: present on every Linux of that age
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1", "libz.so.1",
          "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def problems_of(path, present, glibc):
    newest = (0,)
    for version in re.findall(r"GLIBC_([0-9.]+)", output("readelf", "-W", "--version-info", path)):
        newest = max(newest, tuple(map(int, version.split("."))))
    if newest > glibc:
        yield f"needs glibc {'.'.join(map(str, newest))}"
    dynamic = output("readelf", "-W", "--dynamic", path)  # reads the files of any processor
    for library in re.findall(r"\(NEEDED\).*\[(\S+)\]", dynamic):
        if library not in SYSTEM and library not in present:
            yield f"needs {library}, which is not in the wheel"
    for folder in re.findall(r"\(R(?:UN)?PATH\).*\[(\S+)\]", dynamic):
        if not all(part.startswith("$ORIGIN") for part in folder.split(":")):
            yield f"searches for libraries in {folder}"
    print(f"{os.path.basename(path):22} {os.path.getsize(path):10} bytes, glibc {'.'.join(map(str, newest))}")


def main(wheel):
    tag = re.search(r"manylinux_(\d+)_(\d+)", os.path.basename(wheel))
    if not tag:
        sys.exit(f"{wheel}: the name has no manylinux tag; build it by scripts/wheel")
    found = []
    if os.path.getsize(wheel) > LARGEST:
        found.append(f"{os.path.getsize(wheel)} bytes: expected at most {LARGEST:.0f}")
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        package = os.path.join(folder, "enhope")
        present = set(os.listdir(package))
        for name in sorted(present):
            path = os.path.join(package, name)
            if os.path.isfile(path) and open(path, "rb").read(4) == b"\x7fELF":
                found += [f"{name} {problem}" for problem in problems_of(path, present, tuple(map(int, tag.groups())))]
    print("\n".join(found) if found else f"{os.path.basename(wheel)}: {os.path.getsize(wheel) / 1e6:.1f} MB, needs only glibc "
          f"{tag.group(1)}.{tag.group(2)} and its own libraries")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
