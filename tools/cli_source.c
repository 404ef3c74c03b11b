/*
 * cli_source.c - lines of source files below given directories
 *
 * Paths come from an untrusted profile: each component is opened relative to its parent without
 * following symbolic links, `..` is rejected, and only regular files of at most 16 MiB are read.
 * One file is kept at a time, which many functions share. Tests: tests/cli/list.test.
 */
#define _XOPEN_SOURCE 700 /* realpath() */

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SOURCE_BYTES ((size_t)16 << 20)
#define MAX_PATH_BYTES 4096u
/* Paths for all functions; then no more are tried, and a warning follows. */
#define MAX_TRIES 1000000u
#define MAX_BYTES ((size_t)1 << 30) /* of all files that are read */

/* Skip slashes and components `.`. Each suffix of a path is tried: if thousands of `.`, which
 * exist everywhere, were opened for each, a path would take seconds. */
static void skip_same(const char **path, size_t *size)
{
    while (*size > 0 && (**path == '/' || (**path == '.' && (*size == 1 || (*path)[1] == '/'))))
        ++*path, --*size;
}

/* Open a relative path below a directory; -1: there is none that may be read. Ends *directory. */
static int open_below(int directory, const char *path, size_t size)
{
    while (directory >= 0) {
        char name[MAX_PATH_BYTES];
        size_t length = 0;
        skip_same(&path, &size);
        while (length < size && path[length] != '/')
            length++;
        memcpy(name, path, length);
        name[length] = '\0';
        path += length;
        size -= length;
        int is_last = size == 0;
        int is_bad = length == 0 || strcmp(name, "..") == 0;
        int next = is_bad ? -1
                          : openat(directory, name,
                                   O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
                                       (is_last ? 0 : O_DIRECTORY));
        close(directory);
        if (is_last)
            return next;
        directory = next;
    }
    return -1;
}

/* 0: it cannot be read. */
static int read_text(struct cli_source *source, int file, const struct stat *info)
{
    source->text = malloc((size_t)info->st_size + 1);
    while (source->text != NULL && source->size < (size_t)info->st_size) {
        ssize_t got = read(file, source->text + source->size, (size_t)info->st_size - source->size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        source->size += (size_t)got;
    }
    return source->text != NULL && source->size == (size_t)info->st_size;
}

static int index_lines(struct cli_source *source)
{
    size_t count = 0;

    for (size_t i = 0; i < source->size; i++)
        count += source->text[i] == '\n' || i + 1 == source->size;
    source->lines = malloc((count + 1) * sizeof *source->lines);
    if (source->lines == NULL)
        return 0;
    source->lines[0] = 0;
    for (size_t i = 0; i < source->size; i++)
        if (source->text[i] == '\n' || i + 1 == source->size)
            source->lines[++source->count] = (uint32_t)(i + 1);
    return 1;
}

static void clear(struct cli_source *source)
{
    free(source->text);
    free(source->lines);
    source->text = NULL;
    source->lines = NULL;
    source->size = source->count = 0;
}

/* 0: not a regular file within the limit, or it cannot be read. */
static int read_file(struct cli_source *source, int file)
{
    struct stat info;

    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 0 ||
        (uint64_t)info.st_size > MAX_SOURCE_BYTES)
        return 0;
    if (source->text != NULL && source->device == (uint64_t)info.st_dev &&
        source->inode == (uint64_t)info.st_ino)
        return 1;
    clear(source);
    source->read += (size_t)info.st_size;
    source->device = (uint64_t)info.st_dev;
    source->inode = (uint64_t)info.st_ino;
    if (read_text(source, file, &info) && index_lines(source))
        return 1;
    clear(source);
    return 0;
}

static int try_file(struct cli_source *source, const char *directory, const char *path, size_t size)
{
    if (source->tries >= MAX_TRIES || source->read >= MAX_BYTES) {
        source->is_limited = 1;
        return 0;
    }
    source->tries++;
    int file = open_below(open(directory, O_RDONLY | O_CLOEXEC | O_DIRECTORY), path, size);
    int is_read = file >= 0 && read_file(source, file);

    if (file >= 0)
        close(file);
    return is_read;
}

/* The path without its first component; 0: it has only one. */
static int next_suffix(const char **path, size_t *size)
{
    const char *slash = memchr(*path, '/', *size);

    if (slash == NULL)
        return 0;
    *size -= (size_t)(slash + 1 - *path);
    *path = slash + 1;
    skip_same(path, size);
    return *size > 0;
}

int cli_source_find(struct cli_source *source, pcol_str file)
{
    const char *path = file.data;
    size_t size = file.size, own;

    if (size == 0 || size >= MAX_PATH_BYTES || memchr(path, 0, size) != NULL)
        return 0;
    do {
        for (size_t i = 0; i < source->directories->count; i++)
            if (try_file(source, source->directories->items[i], path, size))
                return 1;
    } while (next_suffix(&path, &size));
    if (source->own == NULL)
        return 0;
    /* Next to the profile only the whole path counts: another file may have the same name. */
    own = strlen(source->own);
    if (file.data[0] != '/')
        return try_file(source, source->own, file.data, file.size);
    return file.size > own + 1 && memcmp(file.data, source->own, own) == 0 &&
           file.data[own] == '/' &&
           try_file(source, source->own, file.data + own + 1, file.size - own - 1);
}

pcol_str cli_source_line(const struct cli_source *source, int64_t line)
{
    if (line < 1 || (uint64_t)line > source->count)
        return (pcol_str){NULL, 0};
    size_t from = source->lines[line - 1], to = source->lines[line];
    if (to > from && source->text[to - 1] == '\n')
        to--;
    if (to > from && source->text[to - 1] == '\r')
        to--;
    return (pcol_str){source->text + from, to - from};
}

int cli_source_open(struct cli_source *source, const struct cli_list *directories,
                    const char *profile)
{
    const char *slash = strrchr(profile, '/');
    struct stat info;

    *source = (struct cli_source){.directories = directories};
    for (size_t i = 0; i < directories->count; i++) {
        if (stat(directories->items[i], &info) != 0)
            return cli_fail(CLI_IO, "--source-path '%s': %s", directories->items[i],
                            strerror(errno));
        if (!S_ISDIR(info.st_mode))
            return cli_usage("--source-path '%s' is not a directory", directories->items[i]);
    }
    if (strcmp(profile, "-") == 0)
        return CLI_OK;
    char *directory = slash == NULL      ? strdup(".")
                      : slash == profile ? strdup("/.")
                                         : strndup(profile, (size_t)(slash - profile));
    if (directory == NULL)
        return cli_fail_memory();
    source->own = realpath(directory, NULL); /* NULL: a profile that is no file has no source */
    free(directory);
    return CLI_OK;
}

void cli_source_close(struct cli_source *source)
{
    clear(source);
    free(source->own);
    source->own = NULL;
}
