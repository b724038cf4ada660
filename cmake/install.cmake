# cmake --install: headers, both libraries, plug-ins, command, manual page, documents, pkg-config
# file, CMake package. cmake/pages.cmake adds the pages of the commands and the completions.
include(CMakePackageConfigHelpers)

install(FILES include/enhope.h include/enhope_advanced.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS enhope_shared EXPORT enhope_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS enhope_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(enhope_plugins)
  install(TARGETS ${enhope_plugins} LIBRARY DESTINATION ${ENHOPE_PLUGIN_DIR})
endif()
if(TARGET enhope_command)
  install(TARGETS enhope_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

file(GLOB manuals CONFIGURE_DEPENDS man/*.1)
install(FILES ${manuals} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.c" PATTERN "CMakeLists.txt"
        PATTERN "Makefile" PATTERN "iris*")

# Paths in the pkg-config file are relative to the file, so an installed tree can be moved.
# Libs.private lists the libraries of the static library, because Requires.private would also
# require their own static dependencies.
list(JOIN openblas_LDFLAGS " " private_libs)
foreach(module cjson zlib)
  list(JOIN ${module}_LDFLAGS " " flags)
  string(APPEND private_libs " ${flags}")
endforeach()
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pkgconfig_to_prefix /p/${pkgconfig_dir} /p)
string(REGEX REPLACE "/$" "" pkgconfig_to_prefix "${pkgconfig_to_prefix}")
configure_file(cmake/enhope.pc.in ${PROJECT_BINARY_DIR}/enhope.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/enhope.pc DESTINATION ${pkgconfig_dir})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/enhope)
configure_package_config_file(cmake/enhope-config.cmake.in ${PROJECT_BINARY_DIR}/enhope-config.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/enhope-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/enhope-config.cmake ${PROJECT_BINARY_DIR}/enhope-config-version.cmake
        DESTINATION ${package_dir})
install(EXPORT enhope_shared NAMESPACE enhope:: FILE enhope-shared.cmake DESTINATION ${package_dir})
