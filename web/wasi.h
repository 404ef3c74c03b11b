/*
 * wasi.h - functions of POSIX that wasi-libc 0~git20220510 lacks; included before every source
 *
 * WebAssembly has no files here: programs pass profiles as memory. Only mkstemp() can be reached,
 * from builders whose memory_limit is exceeded; it fails. The others are declared for the sources
 * that write files, which are not linked.
 */
#ifndef PCOL_WEB_WASI_H
#define PCOL_WEB_WASI_H

#include <sys/types.h>

int fchmod(int fd, mode_t mode);
int getpid(void);
int mkstemp(char *path);

#endif
