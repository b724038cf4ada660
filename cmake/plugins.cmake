# Plug-ins: modules that libenhope or the command loads on first use (src/base/plugin.h), because
# they depend on libraries that are large or often missing. A plug-in is built if its dependencies
# are found; enhope_plugins lists the targets.
set(enhope_plugins "")
file(GLOB base_sources CONFIGURE_DEPENDS src/base/*.c)
list(FILTER base_sources EXCLUDE REGEX "/src/base/json\\.c$") # it needs cJSON

# add_plugin(NAME source...): libenhope_NAME.so with hidden symbols, except those that it exports
function(add_plugin name)
  add_library(enhope_${name} MODULE ${ARGN})
  target_include_directories(enhope_${name} PRIVATE include src)
  set_target_properties(enhope_${name} PROPERTIES C_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden
                        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/plugin.map)
  target_link_options(enhope_${name} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/plugin.map)
  set(enhope_plugins ${enhope_plugins} enhope_${name} PARENT_SCOPE)
endfunction()

# link_or_find(TARGET MODULE): links a plug-in of the command to the library of a pkg-config module. With
# ENHOPE_FIND_LIBRARIES only its headers are used, and the command loads the library before the plug-in.
function(link_or_find target module)
  if(ENHOPE_FIND_LIBRARIES)
    target_include_directories(${target} SYSTEM PRIVATE ${${module}_INCLUDE_DIRS})
  else()
    target_link_libraries(${target} PRIVATE PkgConfig::${module})
  endif()
endfunction()

# The CUDA backend, with its own copy of src/base.
if(ENHOPE_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
endif()
if(ENHOPE_CUDA AND CMAKE_CUDA_COMPILER)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90a-real) # 90a: matrix products of Hopper; newer GPUs compile the code for 80
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  file(GLOB cuda_sources CONFIGURE_DEPENDS src/compute/cuda/*.cu)
  add_plugin(cuda ${cuda_sources} ${base_sources})
  # nvcc names its temporary files, whose names are in the library, after the process unless it keeps them.
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/nvcc)
  target_compile_options(enhope_cuda PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;-Xcompiler=-Wall,-Wextra,-fopenmp;--keep;--keep-dir=nvcc>")
  target_link_libraries(enhope_cuda PRIVATE CUDA::cudart_static OpenMP::OpenMP_C)
endif()

# Communication by MPI, with its own copy of src/base.
if(ENHOPE_MPI)
  find_package(MPI QUIET COMPONENTS C)
endif()
if(ENHOPE_MPI AND MPI_C_FOUND)
  add_plugin(mpi src/comm/mpi/mpi.c ${base_sources})
  target_link_libraries(enhope_mpi PRIVATE enhope_flags MPI::MPI_C m)
endif()

# PNG and JPEG images.
if(image_FOUND)
  add_plugin(image src/data/image/image.c)
  target_link_libraries(enhope_image PRIVATE enhope_flags PkgConfig::image)
else()
  message(STATUS "libpng and libjpeg (libpng-dev, libjpeg-dev) were not found: images cannot be read")
endif()

# Figures of the command as PNG and PDF.
if(cairo_FOUND)
  add_plugin(cairo cli/plot/canvas_cairo.c)
  target_include_directories(enhope_cairo PRIVATE cli)
  target_link_libraries(enhope_cairo PRIVATE enhope_flags m)
  link_or_find(enhope_cairo cairo)
else()
  message(STATUS "cairo (libcairo2-dev) was not found: figures can be drawn as SVG only")
endif()

# HTTP for the command's server.
if(microhttpd_FOUND)
  find_package(Threads REQUIRED)
  add_plugin(http cli/serve/http_microhttpd.c)
  target_include_directories(enhope_http PRIVATE cli)
  target_link_libraries(enhope_http PRIVATE enhope_flags Threads::Threads)
  link_or_find(enhope_http microhttpd)
else()
  message(STATUS "libmicrohttpd (libmicrohttpd-dev) was not found: enhope serve is not available")
endif()
