"""PEP 517 build backend: builds the library and the extension module with CMake, then the wheel.

It uses only the standard library, so a build needs no network. ENHOPE_CMAKE_ARGS adds arguments for
CMake, such as -DENHOPE_CUDA=OFF. ENHOPE_BUILD_DIR names a build folder to reuse.
"""

import base64
import hashlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SOURCES = ["CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "cmake", "include", "src", "cli",
           "reproduce", "python", "viewer", "man", "docs", "examples"]


def _version():
    header = open(os.path.join(ROOT, "include", "enhope.h"), encoding="utf-8").read()
    return ".".join(re.search(rf"ENHOPE_VERSION_{part} (\d+)", header).group(1) for part in ("MAJOR", "MINOR", "PATCH"))


def _project():
    """Fields of pyproject.toml, read without tomllib, which needs Python 3.11."""
    text = open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8").read()
    return {key: re.search(rf'^{key} = "(.*)"$', text, re.M).group(1) for key in ("name", "description", "requires-python")}


def _metadata():
    project = _project()
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {_version()}",
             f"Summary: {project['description']}", f"Requires-Python: {project['requires-python']}", "License: MIT",
             "Requires-Dist: numpy", "Provides-Extra: sklearn", "Requires-Dist: scikit-learn>=1.0; extra == 'sklearn'",
             "Provides-Extra: plot", "Requires-Dist: matplotlib; extra == 'plot'",
             "Description-Content-Type: text/markdown", ""]
    return "\n".join(lines) + "\n" + open(os.path.join(ROOT, "README.md"), encoding="utf-8").read()


def _tag():
    return "cp39-abi3-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def _wheel_text():
    return f"Wheel-Version: 1.0\nGenerator: enhope\nRoot-Is-Purelib: false\nTag: {_tag()}\n"


def _check():
    """Exit with a message if a tool for building is missing."""
    missing = []
    if not shutil.which("cmake"):
        missing.append("cmake")
    if not any(shutil.which(name) for name in (os.environ.get("CC") or "cc", "gcc", "clang")):
        missing.append("a C compiler")
    if not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")):
        missing.append(f"Python.h for {sys.executable}")
    if missing:
        sys.exit(f"enhope cannot be built: {', '.join(missing)} not found. On Debian, run: apt install gcc cmake pkg-config "
                 "python3-dev libopenblas-openmp-dev libcjson-dev zlib1g-dev, and libpng-dev and libjpeg62-turbo-dev for "
                 "images (or run make setup)")


def _build(folder):
    """Build; return the paths of the module and its plug-ins."""
    _check()
    run = lambda *command: subprocess.run(command, check=True)
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DENHOPE_TESTS=OFF", "-DENHOPE_BENCH=OFF", f"-DENHOPE_PYTHON={sys.executable}"]
    run("cmake", "-S", ROOT, "-B", folder, *options, *shlex.split(os.environ.get("ENHOPE_CMAKE_ARGS", "")))
    known = subprocess.run(["cmake", "--build", folder, "--target", "help"], capture_output=True, text=True).stdout
    plugins = [name for name in ("enhope_cuda", "enhope_image") if re.search(rf"\b{name}\b", known)]
    for target in ["enhope_python"] + plugins:
        run("cmake", "--build", folder, "--target", target, "--parallel", str(os.cpu_count() or 1))
    return [os.path.join(folder, "python", "enhope", "_enhope.abi3.so")] + [
        os.path.join(folder, f"lib{name}.so") for name in plugins]


class _Wheel:
    """A wheel file with its RECORD. The result is reproducible."""

    def __init__(self, path):
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._record = []

    def add(self, name, data, mode=0o644):
        info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
        info.external_attr = (0o100000 | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(data)}\n")

    def close(self, record):
        self._record.append(f"{record},,\n")
        self._zip.writestr(zipfile.ZipInfo(record, date_time=(1980, 1, 1, 0, 0, 0)), "".join(self._record))
        self._zip.close()


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _write_wheel(folder, build, editable):
    name = f"enhope-{_version()}-{_tag()}.whl"
    info = f"enhope-{_version()}.dist-info"
    wheel = _Wheel(os.path.join(folder, name))
    package = os.path.join(HERE, "enhope")
    built = _build(build)
    if editable:  # the package in the build folder, which has links to the sources
        wheel.add("enhope.pth", (os.path.join(build, "python") + "\n").encode())
    else:
        for file in sorted(os.listdir(package)):
            if file.endswith((".py", ".pyi", ".typed")):
                wheel.add("enhope/" + file, _read(os.path.join(package, file)))
        for path in built:
            wheel.add("enhope/" + os.path.basename(path), _read(path), 0o755)
    wheel.add(f"{info}/LICENSE", _read(os.path.join(ROOT, "LICENSE")))
    wheel.add(f"{info}/METADATA", _metadata().encode())
    wheel.add(f"{info}/WHEEL", _wheel_text().encode())
    wheel.close(f"{info}/RECORD")
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517."""
    build = os.environ.get("ENHOPE_BUILD_DIR")
    if build:
        return _write_wheel(wheel_directory, os.path.abspath(build), False)
    with tempfile.TemporaryDirectory() as folder:
        return _write_wheel(wheel_directory, folder, False)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 660. Changes of Python sources take effect at once; C sources need a rebuild."""
    return _write_wheel(wheel_directory, os.path.join(ROOT, "build", "python"), True)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """PEP 517: the metadata, without a build."""
    info = f"enhope-{_version()}.dist-info"
    os.makedirs(os.path.join(metadata_directory, info))
    for name, text in (("METADATA", _metadata()), ("WHEEL", _wheel_text())):
        with open(os.path.join(metadata_directory, info, name), "w", encoding="utf-8") as file:
            file.write(text)
    return info


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def _wanted(member):
    name = os.path.basename(member.name)
    left_out = name in ("__pycache__", "node_modules") or (name == "build" and member.isdir()) or name.endswith((".pyc", ".so"))
    return None if left_out else member


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: the source distribution."""
    stem = f"enhope-{_version()}"
    with tarfile.open(os.path.join(sdist_directory, stem + ".tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for name in SOURCES:
            if os.path.exists(os.path.join(ROOT, name)):
                tar.add(os.path.join(ROOT, name), f"{stem}/{name}", filter=_wanted)
        text = _metadata().encode()
        member = tarfile.TarInfo(f"{stem}/PKG-INFO")
        member.size = len(text)
        tar.addfile(member, io.BytesIO(text))
    return stem + ".tar.gz"
