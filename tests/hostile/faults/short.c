/*
 * short.c - short reads and writes
 *
 * Precedes the C library (LD_PRELOAD). FAULTS_SHORT=N in the environment: at most N bytes at
 * a time are read and written, as pipes, signals and network file systems may have it.
 */
#define _DEFAULT_SOURCE /* syscall() */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static size_t at_most(size_t size)
{
    const char *text = getenv("FAULTS_SHORT");
    size_t limit = text ? strtoul(text, NULL, 10) : 0;
    return limit && limit < size ? limit : size;
}

ssize_t read(int fd, void *data, size_t size)
{
    return syscall(SYS_read, fd, data, at_most(size));
}

ssize_t write(int fd, const void *data, size_t size)
{
    return syscall(SYS_write, fd, data, at_most(size));
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
    return syscall(SYS_pread64, fd, data, at_most(size), offset);
}
