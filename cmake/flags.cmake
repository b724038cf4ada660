# Compiler flags of all targets: enhope_flags, and enhope_sanitize for linking.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")

add_library(enhope_sanitize INTERFACE)
if(ENHOPE_SANITIZE)
  target_compile_options(enhope_sanitize INTERFACE -fsanitize=${ENHOPE_SANITIZE} -fno-sanitize-recover=all
                                                   -fno-omit-frame-pointer)
  target_link_options(enhope_sanitize INTERFACE -fsanitize=${ENHOPE_SANITIZE})
endif()

# Coverage that guides libFuzzer (fuzz/). The programs of fuzz/ link libFuzzer itself.
if(ENHOPE_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "ENHOPE_FUZZ needs clang, which has libFuzzer: use the preset fuzz")
  endif()
  target_compile_options(enhope_sanitize INTERFACE ${ENHOPE_FUZZ_COVERAGE})
  target_compile_definitions(enhope_sanitize INTERFACE FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
endif()

add_library(enhope_flags INTERFACE)
target_link_libraries(enhope_flags INTERFACE enhope_sanitize)
# The code does not read errno or floating-point exception flags after arithmetic, so the compiler
# may vectorize loops. -ffast-math is not used because solvers and data checks rely on NaN and
# infinity.
target_compile_options(enhope_flags INTERFACE -Wall -Wextra -fno-math-errno -fno-trapping-math)
if(ENHOPE_WERROR)
  target_compile_options(enhope_flags INTERFACE -Werror)
endif()
