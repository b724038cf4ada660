# How everything of ours is compiled: enhope_flags (and enhope_sanitize, the part that linking needs too).
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

add_library(enhope_flags INTERFACE)
target_link_libraries(enhope_flags INTERFACE enhope_sanitize)
# Nobody reads errno or the floating-point exception flags after arithmetic, so loops may be vectorised. NaN and infinity
# keep their meaning: the minimisers and the data checks rely on it, hence no -ffast-math.
target_compile_options(enhope_flags INTERFACE -Wall -Wextra -fno-math-errno -fno-trapping-math)
if(ENHOPE_WERROR)
  target_compile_options(enhope_flags INTERFACE -Werror)
endif()
