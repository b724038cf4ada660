/* Included first when a wheel is compiled (scripts/wheel). glibc 2.29 gave these functions a second
 * version, which sets errno in another way; enhope does not read errno, so the first version, which
 * every glibc has, does as well. */
#if defined(__x86_64__)
#define FIRST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define FIRST "GLIBC_2.17"
#else
#error "the first version of glibc for this processor is not listed: add it"
#endif
__asm__(".symver exp,exp@" FIRST);
__asm__(".symver exp2,exp2@" FIRST);
__asm__(".symver log,log@" FIRST);
__asm__(".symver log2,log2@" FIRST);
__asm__(".symver pow,pow@" FIRST);
#undef FIRST
