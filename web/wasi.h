/*
 * wasi.h - functions of POSIX that wasi-libc 0~git20220510 lacks; included before every source
 *
 * WebAssembly has no files here: programs pass profiles as memory, and builders keep columns in
 * memory. These functions are declared for the sources that write files; calls of them fail.
 */
#ifndef PCOL_WEB_WASI_H
#define PCOL_WEB_WASI_H

#include <sys/types.h>

int fchmod(int fd, mode_t mode);
int getpid(void);
int mkstemp(char *path);

#endif
