/*
 * bad.c - a map whose file changes the moment it is made, as a shared object for LD_PRELOAD
 *
 * FAULTS_BAD=OFFSET: the page at that byte of every shared map of a pcol file raises SIGBUS when it
 * is read, as one does that the disk cannot deliver. FAULTS_CUT=SIZE cuts the file FAULTS_FILE to
 * that size as soon as that is mapped; FAULTS_WRITE=OFFSET writes one byte there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ul

static void *real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    long place = syscall(SYS_mmap, at, size, protection, flags, fd, offset);
    return (void *)place;
}

static void spoil(char *map, size_t size, unsigned long offset)
{
    int empty = memfd_create("empty", MFD_CLOEXEC);
    if (offset < size && empty >= 0)
        real_mmap(map + offset / PAGE * PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, empty, 0);
    close(empty);
}

static int is_file(int fd, const char *file)
{
    struct stat one, two;
    return !fstat(fd, &one) && !stat(file, &two) && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

static void change(const char *file, const char *cut, const char *write_at)
{
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    if (cut && ftruncate(fd, atol(cut)))
        _exit(97);
    if (write_at && pwrite(fd, "x", 1, atol(write_at)) != 1)
        _exit(97);
    close(fd);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    const char *bad = getenv("FAULTS_BAD"), *file = getenv("FAULTS_FILE");
    char *map = real_mmap(at, size, protection, flags, fd, offset);
    if (map == MAP_FAILED || fd < 0 || !(flags & MAP_SHARED))
        return map;
    if (bad && size > 5 &&
        !memcmp(map, "\x89PCOL", 5)) /* not those of who counts what is reached */
        spoil(map, size, strtoul(bad, NULL, 10));
    if (file && is_file(fd, file))
        change(file, getenv("FAULTS_CUT"), getenv("FAULTS_WRITE"));
    return map;
}
