# The libraries that libenhope links to: enhope_dependencies.
find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
# CBLAS and LAPACK. Debian: libopenblas-openmp-dev, which runs on OpenMP's threads. Others are slower;
# "blas lapack" are those that the system has chosen, such as BLIS or the reference.
set(ENHOPE_BLAS openblas CACHE STRING "pkg-config modules of CBLAS and LAPACK, separated by spaces")
separate_arguments(blas_modules UNIX_COMMAND "${ENHOPE_BLAS}")
pkg_check_modules(openblas REQUIRED IMPORTED_TARGET ${blas_modules})
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
