/*
 * output.c - atomic file output: a temporary file that is renamed when it is complete
 *
 * Bytes are written to ".NAME.pcol-XXXXXX" in the target's directory. Commit syncs the file, then
 * renames it if overwriting is allowed, else uses link(), which fails if the target was created
 * meanwhile, and removes the temporary name. Then the directory is synced. Symbolic links are
 * resolved first, so that their target is replaced. Character devices, FIFOs and descriptors of
 * this process (/dev/stdout, /dev/fd/3) are written directly. Tests: tests/unit/test_output.c,
 * tests/hostile/sinks.
 */
#include "pcol.h"

#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/error.h"
#include "util/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_SIZE ((size_t)1 << 18)
#define MAX_WRITE ((size_t)1 << 30)
#define MAX_LINKS 40
#define MAX_TRIES 100
#define MAX_NAME 200 /* of the target in the temporary name, which then is shorter than NAME_MAX */

struct pcol_output {
    char *target;    /* without symbolic links */
    char *temporary; /* NULL if the target is written directly */
    int fd;
    int folder; /* for syncing; -1: not synced */
    unsigned flags;
    pcol_status status; /* first failed write; repeated by commit */
    uint8_t *buffer;
    size_t used;
};

/* ---- names */

static char *copy_text(const char *text, size_t size)
{
    char *copy = pci_malloc(size + 1, 1);
    if (copy) {
        memcpy(copy, text, size);
        copy[size] = 0;
    }
    return copy;
}

/* Length of a path's directory including the last slash; 0: the working directory. */
static size_t folder_size(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Replace *path by the destination of the link that it is. */
static pcol_status follow_link(char **path, pcol_error *err)
{
    char text[PATH_MAX];
    ssize_t size = readlink(*path, text, sizeof text);
    if (size < 0)
        return pci_fail_errno(err, "read the symbolic link");
    if (size == 0 || (size_t)size == sizeof text)
        return pci_fail(err, PCOL_E_IO, "the symbolic link is too long");
    size_t folder = text[0] == '/' ? 0 : folder_size(*path);
    char *next;
    PCI_TRY(PCI_MALLOC(next, folder + (size_t)size + 1, err));
    memcpy(next, *path, folder);
    memcpy(next + folder, text, (size_t)size);
    next[folder + (size_t)size] = 0;
    pci_free(*path);
    *path = next;
    return PCOL_OK;
}

/* The descriptor that a path names, a link in this process' folder of descriptors; -1: none. The
 * text of such a link is no path: the file may be deleted, or have none. */
static int find_descriptor(const char *path)
{
    static const char *const folders[] = {"/proc/self/fd", "/proc/thread-self/fd"};
    char text[PATH_MAX];
    struct stat found, own;
    size_t size = folder_size(path);
    const char *digits = path + size;
    int descriptor = 0;
    if (!*digits || size >= sizeof text)
        return -1;
    for (; *digits; digits++) {
        if (*digits < '0' || *digits > '9' || descriptor > (INT_MAX - 9) / 10)
            return -1;
        descriptor = descriptor * 10 + *digits - '0';
    }
    memcpy(text, size ? path : ".", size + !size);
    text[size + !size] = 0;
    for (size_t i = 0; !stat(text, &found) && i < sizeof folders / sizeof *folders; i++)
        if (!stat(folders[i], &own) && found.st_dev == own.st_dev && found.st_ino == own.st_ino)
            return descriptor;
    return -1;
}

/* Resolve links; *descriptor is not -1 if the path names one. */
static pcol_status resolve(const char *path, char **target, int *descriptor, pcol_error *err)
{
    struct stat info;
    *descriptor = -1;
    *target = copy_text(path, strlen(path));
    if (!*target)
        return pci_fail_memory(err);
    for (int links = 0; !lstat(*target, &info) && S_ISLNK(info.st_mode); links++) {
        *descriptor = find_descriptor(*target);
        if (*descriptor >= 0)
            break;
        if (links == MAX_LINKS)
            return pci_fail(err, PCOL_E_IO, "too many symbolic links");
        PCI_TRY(follow_link(target, err));
    }
    return PCOL_OK;
}

/* Error of a system call in the output's directory; a missing one is named, as it is often a
 * typo. */
static pcol_status fail_folder(const pcol_output *o, const char *action, pcol_error *err)
{
    size_t size = folder_size(o->target);
    int number = errno;
    char folder[PATH_MAX];
    if (number == ENOENT && size && size < sizeof folder) {
        memcpy(folder, o->target, size);
        folder[size] = 0;
        if (access(folder, F_OK)) /* not in /proc, which refuses new files so */
            return pcol_error_set(err, PCOL_E_IO, number, "there is no folder %.200s", folder);
    }
    errno = number;
    return pci_fail_errno(err, action);
}

/* Create ".NAME.pcol-XXXXXX" next to the target. The name need not be secret: O_EXCL protects
 * existing files. */
static pcol_status make_temporary(pcol_output *o, mode_t mode, pcol_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    static _Atomic uint64_t counter;
    size_t folder = folder_size(o->target), name = strlen(o->target) - folder;
    if (name > MAX_NAME)
        name = MAX_NAME;
    PCI_TRY(PCI_MALLOC(o->temporary, folder + name + sizeof "..pcol-XXXXXX", err));
    for (int tries = 0; tries < MAX_TRIES; tries++) {
        uint64_t random = pci_hash_pair((uint64_t)getpid(), atomic_fetch_add(&counter, 1));
        char *end = o->temporary;
        memcpy(end, o->target, folder);
        end += folder;
        *end++ = '.';
        memcpy(end, o->target + folder, name);
        end += name;
        memcpy(end, ".pcol-", 6);
        end += 6;
        for (int i = 0; i < 6; i++, random >>= 5)
            *end++ = letters[random & 31];
        *end = 0;
        do
            o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        while (o->fd < 0 && errno == EINTR);
        if (o->fd >= 0)
            return PCOL_OK;
        if (errno != EEXIST)
            break;
    }
    int failure = errno;
    pci_free(o->temporary); /* a file of this name is not ours and must not be removed */
    o->temporary = NULL;
    errno = failure;
    return fail_folder(o, "create a file in the output's folder", err);
}

/* ---- opening */

/* Open a device or a FIFO. */
static pcol_status open_directly(pcol_output *o, const char *path, pcol_error *err)
{
    do
        o->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    while (o->fd < 0 && errno == EINTR);
    if (o->fd < 0)
        return pci_fail_errno(err, "open for writing");
    o->flags |= PCOL_OUTPUT_NO_SYNC;
    return PCOL_OK;
}

/* Write to a descriptor from its position on, as others may have written before. */
static pcol_status open_descriptor(pcol_output *o, int descriptor, pcol_error *err)
{
#ifdef F_DUPFD_CLOEXEC
    o->fd = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
#else /* WASI, which has no names of descriptors */
    (void)descriptor;
    errno = ENOTSUP;
#endif
    if (o->fd < 0)
        return pci_fail_errno(err, "open for writing");
    o->flags |= PCOL_OUTPUT_NO_SYNC;
    return PCOL_OK;
}

static pcol_status open_folder(pcol_output *o, pcol_error *err)
{
    size_t size = folder_size(o->target);
    char *folder = size ? copy_text(o->target, size) : copy_text(".", 1);
    if (!folder)
        return pci_fail_memory(err);
    o->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failure = errno;
    pci_free(folder);
    errno = failure;
    return o->folder < 0 ? fail_folder(o, "open the output's folder", err) : PCOL_OK;
}

static pcol_status open_temporary(pcol_output *o, const struct stat *old, pcol_error *err)
{
    size_t folder = folder_size(o->target);
    if (!o->target[folder])
        return pci_fail(err, PCOL_E_IO, "the output is a folder");
    if (!(o->flags & PCOL_OUTPUT_NO_SYNC))
        PCI_TRY(open_folder(o, err));
    /* A replacement has the permissions of the old file, and never more before that. A failed
     * fchmod() is ignored: the file system has no permissions. */
    if (o->flags & PCOL_OUTPUT_PRIVATE)
        return make_temporary(o, 0600, err);
    PCI_TRY(make_temporary(o, old ? old->st_mode & 0666 : 0666, err));
    if (old)
        (void)fchmod(o->fd, old->st_mode & 0777);
    return PCOL_OK;
}

static pcol_status open_any(pcol_output *o, const char *path, pcol_error *err)
{
    struct stat info;
    PCI_TRY(PCI_MALLOC(o->buffer, BUFFER_SIZE, err));
    if (!*path)
        return pci_fail(err, PCOL_E_ARGUMENT, "the output has no name");
    int descriptor;
    PCI_TRY(resolve(path, &o->target, &descriptor, err));
    if (descriptor >= 0)
        return open_descriptor(o, descriptor, err);
    if (stat(path, &info)) {
        if (errno != ENOENT)
            return pci_fail_errno(err, "open for writing");
        return open_temporary(o, NULL, err);
    }
    if (S_ISCHR(info.st_mode) || S_ISFIFO(info.st_mode))
        return open_directly(o, path, err);
    if (S_ISDIR(info.st_mode))
        return pci_fail(err, PCOL_E_IO, "the output is a folder");
    if (!S_ISREG(info.st_mode))
        return pci_fail(err, PCOL_E_IO, "the output is not a regular file");
    if (!(o->flags & PCOL_OUTPUT_OVERWRITE))
        return pci_fail(err, PCOL_E_EXISTS, "the output exists");
    return open_temporary(o, &info, err);
}

static void free_output(pcol_output *o)
{
    if (o->fd >= 0)
        close(o->fd);
    if (o->folder >= 0)
        close(o->folder);
    pci_free(o->target);
    pci_free(o->temporary);
    pci_free(o->buffer);
    pci_free(o);
}

pcol_status pcol_output_open(const char *path, unsigned flags, pcol_output **output,
                             pcol_error *err)
{
    if (!output)
        return pci_fail(err, PCOL_E_ARGUMENT, "no output given");
    *output = NULL;
    if (!path || flags & ~(PCOL_OUTPUT_OVERWRITE | PCOL_OUTPUT_NO_SYNC | PCOL_OUTPUT_PRIVATE))
        return pci_fail(err, PCOL_E_ARGUMENT, "no path, or unknown flags");
    pcol_output *o;
    PCI_TRY(PCI_CALLOC(o, 1, err));
    o->fd = -1;
    o->folder = -1;
    o->flags = flags;
    pcol_status status = open_any(o, path, err);
    if (status != PCOL_OK) {
        pcol_output_abort(o);
        return status;
    }
    *output = o;
    return PCOL_OK;
}

const char *pcol_output_temporary(const pcol_output *output)
{
    return output && output->temporary ? output->temporary : "";
}

/* ---- writing */

static pcol_status write_all(pcol_output *o, const uint8_t *data, size_t size, pcol_error *err)
{
    while (size) {
        ssize_t n = write(o->fd, data, size < MAX_WRITE ? size : MAX_WRITE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (!n)
                errno = EIO;
            return o->status = pci_fail_errno(err, "write");
        }
        data += n;
        size -= (size_t)n;
    }
    return PCOL_OK;
}

static pcol_status flush(pcol_output *o, pcol_error *err)
{
    size_t used = o->used;
    o->used = 0;
    return write_all(o, o->buffer, used, err);
}

/* Writes whole buffers only: the page cache then keeps large folios, and mapping the file later is
 * faster. */
static pcol_status sink_write(void *context, const void *data, size_t size, pcol_error *err)
{
    pcol_output *o = context;
    const uint8_t *from = data;
    if (!o)
        return pci_fail(err, PCOL_E_ARGUMENT, "no output given");
    if (o->status != PCOL_OK)
        return pci_fail(err, o->status, "the output has failed before");
    if (o->fd < 0)
        return pci_fail(err, PCOL_E_ARGUMENT, "the output is complete");
    while (size) {
        size_t n = BUFFER_SIZE - o->used;
        if (!o->used && size >= BUFFER_SIZE) {
            n = size - size % BUFFER_SIZE;
            PCI_TRY(write_all(o, from, n, err));
        } else {
            n = size < n ? size : n;
            memcpy(o->buffer + o->used, from, n);
            o->used += n;
            if (o->used == BUFFER_SIZE)
                PCI_TRY(flush(o, err));
        }
        from += n;
        size -= n;
    }
    return PCOL_OK;
}

pcol_sink pcol_output_sink(pcol_output *output)
{
    return (pcol_sink){sink_write, output};
}

/* ---- commit */

static pcol_status sync_file(int fd, pcol_error *err)
{
    int result;
    do
        result = fsync(fd);
    while (result && errno == EINTR);
    return result ? pci_fail_errno(err, "write to the disk") : PCOL_OK;
}

/* For file systems without hard links: create an empty target exclusively, then replace it. */
static pcol_status rename_to_claimed(pcol_output *o, pcol_error *err)
{
    int fd = open(o->target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return pcol_error_set(err, PCOL_E_EXISTS, errno, "the output has appeared meanwhile");
    if (fd < 0)
        return pci_fail_errno(err, "create the output");
    close(fd);
    if (!rename(o->temporary, o->target))
        return PCOL_OK;
    pcol_status status = pci_fail_errno(err, "rename the output");
    unlink(o->target);
    return status;
}

static pcol_status rename_to_target(pcol_output *o, pcol_error *err)
{
    if (o->flags & PCOL_OUTPUT_OVERWRITE) {
        if (rename(o->temporary, o->target))
            return pci_fail_errno(err, "rename the output");
        return PCOL_OK;
    }
    if (!link(o->temporary, o->target))
        return PCOL_OK;
    if (errno == EEXIST)
        return pcol_error_set(err, PCOL_E_EXISTS, errno, "the output has appeared meanwhile");
    if (errno == EPERM || errno == ENOTSUP || errno == ENOSYS || errno == EMLINK || errno == EACCES)
        return rename_to_claimed(o, err);
    return pci_fail_errno(err, "name the output");
}

static pcol_status sync_folder(pcol_output *o, pcol_error *err)
{
    int result;
    do
        result = fsync(o->folder);
    while (result && errno == EINTR);
    if (!result || errno == EINVAL || errno == ENOTSUP) /* file systems without directory sync */
        return PCOL_OK;
    return pci_fail_errno(err, "sync the folder of the output, which is in place");
}

static pcol_status sync_and_close(pcol_output *o, pcol_error *err)
{
    PCI_TRY(flush(o, err));
    if (!(o->flags & PCOL_OUTPUT_NO_SYNC))
        PCI_TRY(sync_file(o->fd, err));
    int fd = o->fd;
    o->fd = -1;
    return close(fd) && errno != EINTR ? pci_fail_errno(err, "write") : PCOL_OK;
}

pcol_status pcol_output_complete(pcol_output *output, pcol_error *err)
{
    PCI_REQUIRE(output, err);
    if (output->status != PCOL_OK)
        return pci_fail(err, output->status, "the output has failed before");
    if (output->fd < 0) /* complete */
        return PCOL_OK;
    output->status = sync_and_close(output, err);
    return output->status;
}

static pcol_status commit(pcol_output *o, pcol_error *err)
{
    PCI_TRY(pcol_output_complete(o, err));
    if (!o->temporary)
        return PCOL_OK;
    PCI_TRY(rename_to_target(o, err));
    /* After link() the temporary name still exists, after rename() it does not. */
    if (unlink(o->temporary) && errno != ENOENT)
        return pci_fail_errno(err, "remove the temporary name of the output, which is in place");
    pci_free(o->temporary);
    o->temporary = NULL;
    return o->folder >= 0 ? sync_folder(o, err) : PCOL_OK;
}

pcol_status pcol_output_commit(pcol_output *output, pcol_error *err)
{
    if (!output)
        return pci_fail(err, PCOL_E_ARGUMENT, "no output");
    pcol_status status = commit(output, err);
    if (status != PCOL_OK)
        pcol_output_abort(output);
    else
        free_output(output);
    return status;
}

void pcol_output_abort(pcol_output *output)
{
    if (!output)
        return;
    if (output->temporary)
        unlink(output->temporary);
    free_output(output);
}
