/*
 * wasi.c - functions that WebAssembly lacks (wasi.h)
 */
#include <errno.h>

int mkstemp(char *path)
{
    (void)path;
    errno = ENOTSUP;
    return -1;
}
