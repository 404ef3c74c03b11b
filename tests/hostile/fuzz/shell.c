/*
 * shell.c - the command pcol within the process of the fuzzer: its main() renamed, output captured
 */
#include "targets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* main.c of the command, compiled with other names for three functions. */
int fuzz_pcol(int argc, char **argv);
int fuzz_pcol_close(int fd);
void fuzz_pcol_signals(void);
/* The linker's names for wrapped functions. */
ssize_t __real_write(int fd, const void *data, size_t size); /* NOLINT */
ssize_t __wrap_write(int fd, const void *data, size_t size); /* NOLINT */

#define MOST_OUTPUT ((uint64_t)8 << 20)

static int running;
static uint64_t written;
static struct fuzz_text *caught;

/* Limits the output: a few bytes of input can request any number of rows. */
ssize_t __wrap_write(int fd, const void *data, size_t size) /* NOLINT */
{
    if (!running || (fd != STDOUT_FILENO && fd != STDERR_FILENO))
        return __real_write(fd, data, size);
    written += size;
    if (written > MOST_OUTPUT) {
        errno = EPIPE;
        return -1;
    }
    if (caught && fd == STDOUT_FILENO && fuzz_gather(caught, data, size, NULL) != PCOL_OK) {
        errno = ENOMEM;
        return -1;
    }
    return (ssize_t)size;
}

int fuzz_pcol_close(int fd)
{
    return fd == STDOUT_FILENO ? 0 : close(fd);
}

void fuzz_pcol_signals(void)
{
}

int fuzz_shell_file(const uint8_t *data, size_t size, char *path, size_t capacity)
{
    static int fd = -1;
    if (fd < 0) {
        char name[] = "/dev/shm/pcol-fuzz-XXXXXX", other[] = "/tmp/pcol-fuzz-XXXXXX";
        fd = mkstemp(name);
        if (fd >= 0)
            unlink(name);
        else if ((fd = mkstemp(other)) >= 0)
            unlink(other);
    }
    if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
        return -1;
    snprintf(path, capacity, "/proc/self/fd/%d", fd);
    return 0;
}

int fuzz_shell(int count, char **arguments, struct fuzz_text *out)
{
    written = 0;
    caught = out;
    running = 1;
    int code = fuzz_pcol(count, arguments);
    running = 0;
    caught = NULL;
    return code;
}
