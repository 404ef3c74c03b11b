/*
 * cli_folder.c - a directory as output, renamed into place when it is complete
 *
 * Files are written into ".NAME.pcol-XXXXXX" next to the directory, with a buffer for each. An
 * existing directory is replaced only if it is empty or, with -f, if it has only files with names
 * of this output; with signals blocked, it is renamed aside and, at the end, removed. Handlers of
 * terminating signals remove the temporary directory. Tests: tests/cli/clickhouse.test.
 */
#define _XOPEN_SOURCE 700 /* mkdtemp(), realpath() */

#include "cli_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

/* ---- what the signal handlers remove; changes only while signals are blocked ---- */

static const struct cli_folder *unfinished;

/* "DIRECTORY/NAME"; async-signal-safe. 0: it does not fit. */
static int join_path(const char *directory, const char *name, char *path, size_t capacity)
{
    size_t before = strlen(directory), size = strlen(name);

    if (before + size + 2 > capacity)
        return 0;
    memcpy(path, directory, before);
    path[before] = '/';
    memcpy(path + before + 1, name, size + 1);
    return 1;
}

/* Remove the files of a directory by their names, and the directory; async-signal-safe. */
static void remove_folder(const struct cli_folder *folder, const char *directory)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < folder->count; i++)
        if (join_path(directory, folder->files[i].name, path, sizeof path))
            unlink(path);
    rmdir(directory);
}

void cli_folder_unlink(void)
{
    if (unfinished != NULL)
        remove_folder(unfinished, unfinished->temporary);
}

/* ---- the target ---- */

static int is_file(int directory, const char *name)
{
    struct stat info;

    return fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode);
}

/* An existing directory may be replaced if it has no files, or with -f only files of ours. */
static int check_target(struct cli_folder *folder, const struct cli_args *args)
{
    struct stat info;
    DIR *list;
    int code = CLI_OK;

    if (lstat(folder->path, &info) != 0)
        return errno == ENOENT
                   ? CLI_OK
                   : cli_fail(CLI_IO, "%s: cannot create: %s", folder->name, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return cli_fail(CLI_REFUSED, "%s: not a directory", folder->name);
    if ((list = opendir(folder->path)) == NULL)
        return cli_fail(CLI_IO, "%s: cannot read: %s", folder->name, strerror(errno));
    for (struct dirent *entry; code == CLI_OK && (entry = readdir(list)) != NULL;) {
        int is_dot = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (is_dot)
            continue;
        folder->is_replaced = 1;
        if (!args->force)
            code = cli_fail(CLI_REFUSED,
                            "%s: the directory is not empty; -f replaces the files of an earlier "
                            "run",
                            folder->name);
        else if (!folder->is_own(entry->d_name) || !is_file(dirfd(list), entry->d_name))
            code = cli_fail(CLI_REFUSED,
                            "%s: -f replaces only files that pcol wrote, and '%s' is another one",
                            folder->name, entry->d_name);
    }
    closedir(list);
    return code;
}

/* The directory without links and slashes at the end, and a pattern for its temporary name. */
static int set_paths(struct cli_folder *folder, const char *path)
{
    size_t size = strlen(path);
    char *real;

    while (size > 1 && path[size - 1] == '/')
        size--;
    folder->path = strndup(path, size);
    if (folder->path == NULL)
        return cli_fail_memory();
    if ((real = realpath(folder->path, NULL)) != NULL) {
        free(folder->path);
        folder->path = real;
    }
    const char *slash = strrchr(folder->path, '/');
    size_t before = slash != NULL ? (size_t)(slash - folder->path) + 1 : 0;
    const char *name = folder->path + before;
    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return cli_usage("-o %s is not the name of a new directory", path);
    size = strlen(folder->path) + 32;
    folder->temporary = malloc(size);
    folder->aside = malloc(size);
    if (folder->temporary == NULL || folder->aside == NULL)
        return cli_fail_memory();
    snprintf(folder->temporary, size, "%.*s.%s.pcol-XXXXXX", (int)before, folder->path, name);
    return CLI_OK;
}

/* ---- files ---- */

static int open_file(struct cli_folder *folder, struct cli_folder_file *file)
{
    char path[PATH_MAX];

    file->buffer = malloc(CLI_FOLDER_BUFFER);
    if (file->buffer == NULL)
        return cli_fail_memory();
    if (!join_path(folder->temporary, file->name, path, sizeof path))
        return cli_fail(CLI_IO, "%s: the path is too long", folder->name);
    file->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->fd < 0)
        return cli_fail(CLI_IO, "%s/%s: cannot create: %s", folder->name, file->name,
                        strerror(errno));
    return CLI_OK;
}

int cli_folder_open(struct cli_folder *folder, const struct cli_args *args,
                    const char *const *names, size_t count, int (*is_own)(const char *name))
{
    sigset_t old;

    *folder = (struct cli_folder){.name = args->output, .is_own = is_own, .sync = !args->no_sync};
    folder->files = calloc(count, sizeof *folder->files);
    if (folder->files == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < count; i++)
        folder->files[i] = (struct cli_folder_file){.name = names[i], .fd = -1};
    folder->count = count;
    int code = set_paths(folder, args->output);
    if (code == CLI_OK)
        code = check_target(folder, args);
    if (code != CLI_OK)
        return code;
    cli_signals_hold(&old);
    folder->is_made = mkdtemp(folder->temporary) != NULL;
    int reason = errno;
    if (folder->is_made)
        unfinished = folder;
    cli_signals_release(&old);
    if (!folder->is_made)
        return cli_fail(CLI_IO, "%s: cannot create: %s", folder->name, strerror(reason));
    for (size_t i = 0; i < count && code == CLI_OK; i++)
        code = open_file(folder, &folder->files[i]);
    return code;
}

static void put(struct cli_folder *folder, struct cli_folder_file *file, const char *data,
                size_t size)
{
    if (folder->code == CLI_OK)
        folder->code = cli_check_written(folder->written + size);
    while (size > 0 && folder->code == CLI_OK) {
        ssize_t done = write(file->fd, data, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            folder->code = cli_fail(CLI_IO, "%s/%s: cannot write: %s", folder->name, file->name,
                                    strerror(done < 0 ? errno : ENOSPC));
            return;
        }
        data += done;
        size -= (size_t)done;
        folder->written += (uint64_t)done;
    }
}

void cli_folder_flush(struct cli_folder *folder, struct cli_folder_file *file, const void *data,
                      size_t size)
{
    put(folder, file, file->buffer, file->used);
    file->used = 0;
    if (size >= CLI_FOLDER_BUFFER) {
        put(folder, file, data, size);
        return;
    }
    memcpy(file->buffer, data, size);
    file->used = size;
}

/* ---- closing ---- */

static int close_files(struct cli_folder *folder, int sync)
{
    for (size_t i = 0; i < folder->count; i++) {
        struct cli_folder_file *file = &folder->files[i];
        if (file->fd < 0)
            continue;
        int fails = (sync && fsync(file->fd) != 0 && errno != EINVAL && errno != EROFS);
        int reason = errno;
        if (close(file->fd) != 0 && !fails) {
            fails = 1;
            reason = errno;
        }
        file->fd = -1;
        if (fails && folder->code == CLI_OK)
            folder->code = cli_fail(CLI_IO, "%s/%s: cannot write: %s", folder->name, file->name,
                                    strerror(reason));
    }
    return folder->code;
}

/* Rename into place; the directory that was there is removed last. Signals are blocked. */
static int replace(struct cli_folder *folder)
{
    mode_t mask = umask(0);

    umask(mask);
    if (chmod(folder->temporary, 0777 & ~mask) != 0)
        return -1;
    if (!folder->is_replaced)
        return rename(folder->temporary, folder->path);
    size_t size = strlen(folder->temporary);
    memcpy(folder->aside, folder->temporary, size);
    memcpy(folder->aside + size, "-old", 5);
    if (rename(folder->path, folder->aside) != 0)
        return -1;
    if (rename(folder->temporary, folder->path) != 0) {
        int reason = errno;
        (void)!rename(folder->aside, folder->path);
        errno = reason;
        return -1;
    }
    return 0;
}

/* Remove a directory that was replaced: only files of ours, also those this run did not write. */
static void remove_replaced(const struct cli_folder *folder)
{
    char path[PATH_MAX];
    DIR *list = opendir(folder->aside);

    if (list == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;)
        if (folder->is_own(entry->d_name) &&
            join_path(folder->aside, entry->d_name, path, sizeof path))
            unlink(path);
    closedir(list);
    rmdir(folder->aside);
}

static void sync_parent(const struct cli_folder *folder)
{
    const char *slash = strrchr(folder->path, '/');
    char *parent = slash == NULL           ? strdup(".")
                   : slash == folder->path ? strdup("/")
                                           : strndup(folder->path, (size_t)(slash - folder->path));
    int fd = parent != NULL ? open(parent, O_RDONLY | O_CLOEXEC | O_DIRECTORY) : -1;

    if (fd >= 0) {
        (void)fsync(fd); /* the rename is done: its failure leaves a complete directory */
        close(fd);
    }
    free(parent);
}

int cli_folder_finish(struct cli_folder *folder, int code)
{
    sigset_t old;

    for (size_t i = 0; i < folder->count && code == CLI_OK; i++) {
        cli_folder_flush(folder, &folder->files[i], "", 0);
        code = folder->code;
    }
    int closed = close_files(folder, code == CLI_OK && folder->sync);
    code = cli_worst_code(code, closed);
    if (code == CLI_OK)
        code = cli_inputs_intact();
    cli_cpu_limit_end();
    if (folder->is_made) {
        cli_signals_hold(&old);
        if (code == CLI_OK && replace(folder) != 0)
            code = cli_fail(CLI_IO, "%s: cannot replace: %s", folder->name, strerror(errno));
        if (code != CLI_OK)
            remove_folder(folder, folder->temporary);
        else if (folder->is_replaced)
            remove_replaced(folder);
        unfinished = NULL;
        cli_signals_release(&old);
        if (code == CLI_OK && folder->sync)
            sync_parent(folder);
    }
    for (size_t i = 0; i < folder->count; i++)
        free(folder->files[i].buffer);
    free(folder->files);
    free(folder->path);
    free(folder->temporary);
    free(folder->aside);
    *folder = (struct cli_folder){0};
    return code;
}
