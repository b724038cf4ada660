# The libraries that enhope stands on, gathered in one target: enhope_dependencies.
find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
# CBLAS; on Debian the package libopenblas-openmp-dev, which shares its threads with OpenMP.
pkg_check_modules(openblas REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(cjson REQUIRED IMPORTED_TARGET libcjson)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
# of plug-ins alone
pkg_check_modules(matio IMPORTED_TARGET matio)
pkg_check_modules(cairo IMPORTED_TARGET cairo-pdf cairo-png)

add_library(enhope_dependencies INTERFACE)
target_link_libraries(enhope_dependencies INTERFACE PkgConfig::openblas PkgConfig::cjson PkgConfig::zlib
                                                    OpenMP::OpenMP_C ${CMAKE_DL_LIBS} m)
