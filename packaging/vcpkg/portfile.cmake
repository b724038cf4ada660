# SOURCE_URL and SOURCE_SHA512 are those of a published source archive (scripts/source-archive).
vcpkg_download_distfile(archive URLS SOURCE_URL FILENAME enhope-${VERSION}.tar.gz SHA512 SOURCE_SHA512)
vcpkg_extract_source_archive(source ARCHIVE ${archive})
vcpkg_cmake_configure(SOURCE_PATH ${source}
  OPTIONS -DENHOPE_TESTS=OFF -DENHOPE_BENCH=OFF -DENHOPE_CUDA=OFF -DENHOPE_MPI=OFF -DENHOPE_PYTHON=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/enhope)
vcpkg_fixup_pkgconfig()
vcpkg_copy_tools(TOOL_NAMES enhope AUTO_CLEAN)
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/debug/include ${CURRENT_PACKAGES_DIR}/debug/share)
vcpkg_install_copyright(FILE_LIST ${source}/LICENSE)
