"""PEP 517 build backend: builds the library, the extension module and the command with CMake, then the wheel.

It uses only the standard library, so a build needs no network. Variables of the environment:
ENHOPE_CMAKE_ARGS      more arguments for CMake, such as -DENHOPE_CUDA=OFF
ENHOPE_BUILD_DIR       a build folder to reuse
ENHOPE_WHEEL_PLATFORM  the tag of the platform, such as manylinux_2_28_x86_64 (scripts/wheel)
ENHOPE_WHEEL_LIBRARIES shared libraries to add, separated by colons
ENHOPE_WHEEL_LICENSES  their licenses, files separated by colons
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
SOURCES = ["CMakeLists.txt", "CONTRIBUTING.md", "LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "cmake", "include", "src", "cli",
           "reproduce", "python", "viewer", "man", "docs", "examples"]


def _version():
    header = open(os.path.join(ROOT, "include", "enhope.h"), encoding="utf-8").read()
    return ".".join(re.search(rf"ENHOPE_VERSION_{part} (\d+)", header).group(1) for part in ("MAJOR", "MINOR", "PATCH"))


def _project():
    """Fields of pyproject.toml, read without tomllib, which needs Python 3.11."""
    text = open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8").read()
    return {key: re.search(rf'^{key} = "(.*)"$', text, re.M).group(1) for key in ("name", "description", "requires-python")}


CLASSIFIERS = ["Development Status :: 4 - Beta", "Intended Audience :: Science/Research",
               "License :: OSI Approved :: MIT License", "Operating System :: POSIX :: Linux", "Programming Language :: C",
               "Programming Language :: Python :: 3", "Topic :: Scientific/Engineering :: Artificial Intelligence",
               "Topic :: Scientific/Engineering :: Visualization"]


def _description():
    """The README without images and without links to files, which a package index does not have."""
    text = open(os.path.join(ROOT, "README.md"), encoding="utf-8").read()
    text = re.sub(r"^!\[.*?\]\(.*?\)\n+", "", text, flags=re.M)
    return re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", text)


def _metadata():
    project = _project()
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {_version()}",
             f"Summary: {project['description']}", f"Requires-Python: {project['requires-python']}", "License: MIT",
             "License-File: LICENSE", "Author: The enhope authors",
             "Keywords: embedding,dimensionality reduction,visualization,classification,exemplars",
             *(f"Classifier: {name}" for name in CLASSIFIERS), "Requires-Dist: numpy", "Provides-Extra: sklearn", "Requires-Dist: scikit-learn>=1.0; extra == 'sklearn'",
             "Provides-Extra: plot", "Requires-Dist: matplotlib; extra == 'plot'",
             "Description-Content-Type: text/markdown", ""]
    return "\n".join(lines) + "\n" + _description()


def _tag():
    return "cp39-abi3-" + (os.environ.get("ENHOPE_WHEEL_PLATFORM") or re.sub(r"[-.]", "_", sysconfig.get_platform()))


def _wheel_text():
    return f"Wheel-Version: 1.0\nGenerator: enhope\nRoot-Is-Purelib: false\nTag: {_tag()}\n"


LIBRARIES = {"openblas": "libopenblas-openmp-dev", "libcjson": "libcjson-dev", "zlib": "zlib1g-dev"}


def _missing():
    """What a build needs and this machine has not: pairs (name, package of Debian)."""
    missing = [(name, package) for name, package in (("cmake", "cmake"), ("pkg-config", "pkg-config"))
               if not shutil.which(name)]
    if not any(shutil.which(name) for name in (os.environ.get("CC") or "cc", "gcc", "clang")):
        missing.append(("a C compiler", "gcc libc6-dev"))
    if not shutil.which("ninja") and not shutil.which("make"):
        missing.append(("ninja or make", "ninja-build"))
    if not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")):
        missing.append((f"Python.h for {sys.executable}", "python3-dev"))
    for module, package in LIBRARIES.items():
        if not shutil.which("pkg-config") or subprocess.run(["pkg-config", "--exists", module]).returncode:
            missing.append((f"the library {module.replace('lib', '')}", package))
    return missing


def _check():
    """Exit with a list of what is missing for a build."""
    missing = _missing()
    if missing:
        names = "".join(f"\n  - {name} (Debian: {package})" for name, package in missing)
        sys.exit(f"enhope cannot be built, because this is missing:{names}\nInstall it, on Debian by\n"
                 f"  apt install {' '.join(package for _, package in missing)}\nor install a wheel, which needs no compiler.")


def _run(*command):
    """Run a step of the build; exit with its command if it fails, because its output has the reason."""
    if subprocess.run(command).returncode:
        sys.exit(f"enhope cannot be built: the reason is in the lines above, printed by\n  {shlex.join(command)}")


def _build(folder, layout):
    """Build; return the paths of the files to add to the package."""
    _check()
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DENHOPE_TESTS=OFF", "-DENHOPE_BENCH=OFF", f"-DENHOPE_PYTHON={sys.executable}"]
    if shutil.which("ninja") and not os.path.exists(os.path.join(folder, "CMakeCache.txt")):
        options += ["-G", "Ninja"]
    _run("cmake", "-S", ROOT, "-B", folder, *options, *layout, *shlex.split(os.environ.get("ENHOPE_CMAKE_ARGS", "")))
    known = subprocess.run(["cmake", "--build", folder, "--target", "help"], capture_output=True, text=True).stdout
    plugins = [name for name in PLUGINS if re.search(rf"\b{name}\b", known)]
    targets = ["enhope_python", *plugins] + (["enhope_shared", "enhope_command"] if layout else [])
    _run("cmake", "--build", folder, "--parallel", str(os.cpu_count() or 1), "--target", *targets)
    files = [os.path.join(folder, "python", "enhope", "_enhope.abi3.so")]
    if layout:
        files += [os.path.join(folder, "libenhope.so.0"), os.path.join(folder, "enhope")]
    return files + [os.path.join(folder, f"lib{name}.so") for name in plugins]


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


PLUGINS = ("enhope_cuda", "enhope_image", "enhope_cairo", "enhope_http")
# Everything in the folder of the package: the library, the command, the plug-ins.
LAYOUT = ["-DENHOPE_PYTHON_DIR=.", "-DCMAKE_INSTALL_LIBDIR=enhope", "-DCMAKE_INSTALL_BINDIR=enhope",
          "-DENHOPE_PLUGIN_DIR=enhope", "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON"]
# The script `enhope` finds the command without importing the package, which takes longer than the command.
SCRIPT = b"""#!python
import importlib.util
import os
import sys

command = os.path.join(importlib.util.find_spec("enhope").submodule_search_locations[0], "enhope")
os.execv(command, sys.argv)
"""


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _listed(variable):
    return [path for path in os.environ.get(variable, "").split(":") if path]


def _write_wheel(folder, build, editable):
    name = f"enhope-{_version()}-{_tag()}.whl"
    info = f"enhope-{_version()}.dist-info"
    package = os.path.join(HERE, "enhope")
    built = _build(build, [] if editable else LAYOUT)
    wheel = _Wheel(os.path.join(folder, name))
    if editable:  # the package in the build folder, which has links to the sources
        wheel.add("enhope.pth", (os.path.join(build, "python") + "\n").encode())
    else:
        for file in sorted(os.listdir(package)):
            if file.endswith((".py", ".pyi", ".typed")):
                wheel.add("enhope/" + file, _read(os.path.join(package, file)))
        for path in built + _listed("ENHOPE_WHEEL_LIBRARIES"):
            wheel.add("enhope/" + os.path.basename(path), _read(path), 0o755)
        wheel.add(f"enhope-{_version()}.data/scripts/enhope", SCRIPT, 0o755)
        for path in _listed("ENHOPE_WHEEL_LICENSES"):
            wheel.add(f"{info}/licenses/{os.path.basename(path)}", _read(path))
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
    left_out = (name in ("__pycache__", "node_modules") or (name == "build" and member.isdir())
                or name.endswith((".pyc", ".so")) or member.name.endswith("/viewer/page.c"))
    return None if left_out else member


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: the source distribution."""
    stem = f"enhope-{_version()}"
    with tarfile.open(os.path.join(sdist_directory, stem + ".tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for name in SOURCES:
            if os.path.exists(os.path.join(ROOT, name)):
                tar.add(os.path.join(ROOT, name), f"{stem}/{name}", filter=_wanted)
        for page in ("viewer/page.c", "build/release/viewer/page.c"):  # so that a build needs no node
            if os.path.exists(os.path.join(ROOT, page)):
                tar.add(os.path.join(ROOT, page), f"{stem}/viewer/page.c")
                break
        text = _metadata().encode()
        member = tarfile.TarInfo(f"{stem}/PKG-INFO")
        member.size = len(text)
        tar.addfile(member, io.BytesIO(text))
    return stem + ".tar.gz"
