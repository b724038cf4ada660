/* <matio.h> as some versions of libmatio declare it: with a log function that takes the other kind
 * of text, so that src/data/mat/mat.c is compiled against both. */
#define Mat_LogInitFunc Mat_LogInitFunc_installed
#include_next <matio.h>
#undef Mat_LogInitFunc
#ifdef ENHOPE_MATIO_CONST
int Mat_LogInitFunc(const char *program, void (*log)(int level, const char *message));
#else
int Mat_LogInitFunc(const char *program, void (*log)(int level, char *message));
#endif
