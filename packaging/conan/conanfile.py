"""Conan 2: conan create packaging/conan --build=missing, from the folder of the sources."""

import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class Enhope(ConanFile):
    name = "enhope"
    license = "MIT"
    description = "Supervised embeddings of labeled data, and classifiers that compare with a few exemplars"
    settings = "os", "compiler", "build_type", "arch"
    requires = "openblas/[>=0.3]", "cjson/[>=1.7]", "zlib/[>=1.2]"
    tool_requires = "cmake/[>=3.22]", "pkgconf/[>=2]"

    def set_version(self):
        with open(os.path.join(self.recipe_folder, ROOT, "include", "enhope.h"), encoding="utf-8") as header:
            parts = re.findall(r"#define ENHOPE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read())
        self.version = ".".join(parts)

    def export_sources(self):
        root = os.path.normpath(os.path.join(self.recipe_folder, ROOT))
        for folder in ("cli", "cmake", "docs", "examples", "include", "man", "reproduce", "src", "viewer"):
            copy(self, f"{folder}/*", root, self.export_sources_folder, excludes="*/node_modules/*")
        for file in ("CMakeLists.txt", "*.md", "LICENSE"):
            copy(self, file, root, self.export_sources_folder, keep_path=False, excludes="*/*")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        PkgConfigDeps(self).generate()
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for option in ("TESTS", "BENCH", "CUDA", "MPI", "PYTHON"):
            toolchain.cache_variables[f"ENHOPE_{option}"] = "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["enhope"]
        self.cpp_info.set_property("cmake_target_name", "enhope::enhope")
        self.cpp_info.set_property("pkg_config_name", "enhope")
