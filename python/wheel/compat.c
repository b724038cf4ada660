/* What the archives of Debian need to become part of a wheel (scripts/wheel). The linker replaces
 * the symbols log, pow and stderr in them by those with the prefix __wrap_. */
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The first version of the functions: glibc.h is included first. */
double __wrap_log(double x);
double __wrap_log(double x)
{
    return log(x);
}

double __wrap_pow(double x, double y);
double __wrap_pow(double x, double y)
{
    return pow(x, y);
}

/* libpng and libjpeg are compiled for programs, whose data is not in another library. */
extern FILE *__real_stderr;
FILE *__wrap_stderr;
__attribute__((constructor)) static void find_stderr(void)
{
    __wrap_stderr = __real_stderr;
}

/* The only function of the Fortran library that LAPACK calls in the parts which enhope uses:
 * a // b, padded with blanks to n characters. */
void _gfortran_concat_string(size_t n, char *out, size_t n_a, const char *a, size_t n_b, const char *b);
void _gfortran_concat_string(size_t n, char *out, size_t n_a, const char *a, size_t n_b, const char *b)
{
    if (n_a > n) n_a = n;
    if (n_b > n - n_a) n_b = n - n_a;
    memcpy(out, a, n_a);
    memcpy(out + n_a, b, n_b);
    memset(out + n_a + n_b, ' ', n - n_a - n_b);
}
