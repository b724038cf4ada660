# The libraries that libenhope links to: enhope_dependencies.
find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
# CBLAS. Debian: libopenblas-openmp-dev, which runs on OpenMP's threads.
pkg_check_modules(openblas REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(cjson REQUIRED IMPORTED_TARGET libcjson)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
# used by plug-ins only
pkg_check_modules(image IMPORTED_TARGET libpng libjpeg)
pkg_check_modules(cairo IMPORTED_TARGET cairo-pdf cairo-png)
pkg_check_modules(microhttpd IMPORTED_TARGET libmicrohttpd>=0.9.71)
# used by tests only: they write MATLAB files
pkg_check_modules(matio IMPORTED_TARGET matio)

add_library(enhope_dependencies INTERFACE)
target_link_libraries(enhope_dependencies INTERFACE PkgConfig::openblas PkgConfig::cjson PkgConfig::zlib
                                                    OpenMP::OpenMP_C ${CMAKE_DL_LIBS} m)
