# The page of enhope view, bundled from viewer/ by esbuild: viewer_page is the C source that
# contains it. If node or its packages are missing, the source contains the reason, and only enhope
# view is affected.
# Source archives (scripts/source-archive) contain the page, so they need neither.
if(EXISTS ${PROJECT_SOURCE_DIR}/viewer/page.c)
  set(viewer_page ${PROJECT_SOURCE_DIR}/viewer/page.c)
  return()
endif()
file(GLOB_RECURSE viewer_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/viewer/src/*)
set(viewer_page ${PROJECT_BINARY_DIR}/viewer/page.c)
set(viewer_packages --omit=dev)
if(ENHOPE_TESTS AND ENHOPE_CHECKS)
  set(viewer_packages --include=dev) # includes playwright, for the browser test
endif()
add_custom_command(
  OUTPUT ${viewer_page}
  COMMAND ${PROJECT_SOURCE_DIR}/viewer/build ${viewer_page} ${viewer_packages}
  DEPENDS ${viewer_sources} ${PROJECT_SOURCE_DIR}/viewer/build ${PROJECT_SOURCE_DIR}/viewer/build.mjs
          ${PROJECT_SOURCE_DIR}/viewer/package.json ${PROJECT_SOURCE_DIR}/viewer/package-lock.json
  COMMENT "Building the page of enhope view"
  VERBATIM)
