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

# Hardening: checked string functions, guarded stacks, addresses that are chosen at run time, tables
# of functions that are read-only, and no memory that is both writable and executable. tests/hardening
# checks the files that are built.
if(NOT ENHOPE_SANITIZE)
  include(CheckCCompilerFlag)
  include(CheckCSourceCompiles)
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES C)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full)
    string(MAKE_C_IDENTIFIER "ENHOPE_HAS_${flag}" known)
    check_c_compiler_flag("${flag} -Werror" ${known})
    if(${known})
      target_compile_options(enhope_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:${flag}>)
    endif()
  endforeach()
  # level 3 also checks sizes that are known at run time; older compilers and C libraries have 2
  check_c_source_compiles("
    #include <features.h>
    #if !__has_builtin(__builtin_dynamic_object_size) || !__GLIBC_PREREQ(2, 34)
    #error 2
    #endif
    int main(void) { return 0; }" ENHOPE_HAS_FORTIFY_3)
  set(fortify $<IF:$<BOOL:${ENHOPE_HAS_FORTIFY_3}>,3,2>)
  target_compile_options(enhope_flags INTERFACE
    $<$<AND:$<COMPILE_LANGUAGE:C>,$<CONFIG:Release>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=${fortify}>)
  if(CMAKE_SYSTEM_NAME STREQUAL Linux)
    add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)
  endif()
endif()
