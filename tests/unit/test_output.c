/*
 * test_output.c - atomic creation of output files
 */
#include <criterion/criterion.h>

#include "testing.h"
#include "util/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

TestSuite(output, .init = folder_begin, .fini = folder_end);

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    cr_assert_eq(fclose(file), 0);
}

static void expect_file(const char *path, const char *text)
{
    char got[256];
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    size_t size = fread(got, 1, sizeof got - 1, file);
    got[size] = 0;
    fclose(file);
    cr_assert_str_eq(got, text);
}

static int entries(void)
{
    DIR *dir = opendir(folder);
    int count = 0;
    struct dirent *entry;
    while ((entry = readdir(dir)))
        count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(dir);
    return count;
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    cr_assert_eq(stat(path, &info), 0);
    return info.st_mode & 0777;
}

static pcol_status write_text(const char *path, unsigned flags, const char *text, pcol_error *err)
{
    pcol_output *output;
    pcol_status status = pcol_output_open(path, flags, &output, err);
    if (status != PCOL_OK) {
        cr_assert_null(output);
        return status;
    }
    pcol_sink sink = pcol_output_sink(output);
    status = sink.write(sink.context, text, strlen(text), err);
    if (status != PCOL_OK) {
        pcol_output_abort(output);
        return status;
    }
    return pcol_output_commit(output, err);
}

Test(output, new_file)
{
    char *path = folder_path("new.pcol");
    pcol_output *output;
    mode_t old = umask(027);
    cr_assert_eq(pcol_output_open(path, 0, &output, NULL), PCOL_OK);
    cr_assert_eq(access(path, F_OK), -1); /* nothing to be seen yet */
    const char *temporary = pcol_output_temporary(output);
    cr_assert_eq(strncmp(temporary, folder_path(".new.pcol.pcol-"), strlen(folder) + 16), 0, "%s",
                 temporary);
    cr_assert_eq(strlen(temporary), strlen(folder) + 22);
    pcol_sink sink = pcol_output_sink(output);
    cr_assert_eq(sink.write(sink.context, "one ", 4, NULL), PCOL_OK);
    cr_assert_eq(sink.write(sink.context, "", 0, NULL), PCOL_OK);
    cr_assert_eq(sink.write(sink.context, "two", 3, NULL), PCOL_OK);
    cr_assert_eq(pcol_output_commit(output, NULL), PCOL_OK);
    umask(old);
    expect_file(path, "one two");
    cr_assert_eq(mode_of(path), 0640);
    cr_assert_eq(entries(), 1);
}

Test(output, much_and_in_any_pieces)
{
    enum { SIZE = 3000000 };
    char *data = malloc(SIZE), *back = malloc(SIZE), *path = folder_path("x");
    pcol_output *output;
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (char)(i * 7 + i / 1000);
    cr_assert_eq(pcol_output_open(path, PCOL_OUTPUT_NO_SYNC, &output, NULL), PCOL_OK);
    pcol_sink sink = pcol_output_sink(output);
    for (size_t at = 0, piece = 1; at < SIZE; at += piece, piece = piece * 3 % 700001) {
        if (piece > SIZE - at)
            piece = SIZE - at;
        cr_assert_eq(sink.write(sink.context, data + at, piece, NULL), PCOL_OK);
    }
    cr_assert_eq(pcol_output_commit(output, NULL), PCOL_OK);
    FILE *file = fopen(path, "rb");
    cr_assert_eq(fread(back, 1, SIZE, file), SIZE);
    cr_assert_eq(fgetc(file), EOF);
    fclose(file);
    cr_assert_arr_eq(back, data, SIZE);
    free(data);
    free(back);
}

Test(output, existing_file)
{
    char *path = folder_path("old");
    pcol_error err;
    put(path, "old");
    chmod(path, 0600);
    cr_assert_eq(write_text(path, 0, "new", &err), PCOL_E_EXISTS);
    expect_file(path, "old");
    cr_assert_eq(write_text(path, PCOL_OUTPUT_OVERWRITE, "new", &err), PCOL_OK);
    expect_file(path, "new");
    cr_assert_eq(mode_of(path), 0600); /* as private as before */
    cr_assert_eq(entries(), 1);
}

Test(output, file_that_appears_meanwhile)
{
    char *path = folder_path("race");
    pcol_output *output;
    pcol_error err;
    cr_assert_eq(pcol_output_open(path, 0, &output, NULL), PCOL_OK);
    put(path, "theirs");
    cr_assert_eq(pcol_output_commit(output, &err), PCOL_E_EXISTS);
    expect_file(path, "theirs");
    cr_assert_eq(entries(), 1);
}

Test(output, abort_leaves_nothing)
{
    pcol_output *output;
    cr_assert_eq(pcol_output_open(folder_path("x"), 0, &output, NULL), PCOL_OK);
    cr_assert_eq(entries(), 1);
    pcol_output_abort(output);
    pcol_output_abort(NULL);
    cr_assert_eq(entries(), 0);
}

Test(output, symbolic_links)
{
    char *link = folder_path("link"), *target = folder_path("target");
    pcol_error err;
    mkdir(folder_path("sub"), 0777);
    cr_assert_eq(symlink("sub/second", link), 0);
    cr_assert_eq(symlink("../target", folder_path("sub/second")), 0);
    cr_assert_eq(write_text(link, 0, "1", &err), PCOL_OK); /* dangling: makes the target */
    expect_file(target, "1");
    cr_assert_eq(write_text(link, 0, "2", &err), PCOL_E_EXISTS);
    cr_assert_eq(write_text(link, PCOL_OUTPUT_OVERWRITE, "2", &err), PCOL_OK);
    expect_file(target, "2");
    struct stat info;
    cr_assert_eq(lstat(link, &info), 0);
    cr_assert(S_ISLNK(info.st_mode));
    cr_assert_eq(symlink("loop", folder_path("loop")), 0);
    cr_assert_eq(write_text(folder_path("loop"), PCOL_OUTPUT_OVERWRITE, "3", &err), PCOL_E_IO);
}

Test(output, hard_link_keeps_its_other_name)
{
    pcol_error err;
    put(folder_path("a"), "old");
    cr_assert_eq(link(folder_path("a"), folder_path("b")), 0);
    cr_assert_eq(write_text(folder_path("a"), PCOL_OUTPUT_OVERWRITE, "new", &err), PCOL_OK);
    expect_file(folder_path("a"), "new");
    expect_file(folder_path("b"), "old");
}

Test(output, what_is_no_file)
{
    pcol_error err;
    pcol_output *output;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    cr_assert_eq(write_text(folder, PCOL_OUTPUT_OVERWRITE, "x", &err), PCOL_E_IO);
    cr_assert_eq(write_text(folder_path(""), PCOL_OUTPUT_OVERWRITE, "x", &err), PCOL_E_IO);
    cr_assert_eq(write_text(folder_path("no/such"), 0, "x", &err), PCOL_E_IO);
    cr_assert_eq(write_text(folder_path("new/"), 0, "x", &err), PCOL_E_IO);
    cr_assert_eq(write_text("", 0, "x", &err), PCOL_E_ARGUMENT);
    cr_assert_eq(write_text("x", 0x80, "x", &err), PCOL_E_ARGUMENT);
    cr_assert_eq(write_text("/dev/null", 0, "x", &err), PCOL_OK);
    cr_assert_eq(pcol_output_open("/dev/null", 0, &output, &err), PCOL_OK);
    cr_assert_str_eq(pcol_output_temporary(output), "");
    pcol_output_abort(output);
    cr_assert_eq(write_text("/dev/full", 0, "x", &err), PCOL_E_IO);
    cr_assert_not_null(strstr(err.message, "No space left"));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(name.sun_path, sizeof name.sun_path, "%s/socket", folder);
    cr_assert_eq(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    cr_assert_eq(write_text(folder_path("socket"), PCOL_OUTPUT_OVERWRITE, "x", &err), PCOL_E_IO);
    close(fd);
    cr_assert_eq(entries(), 1);
}

Test(output, fifo_is_written_directly)
{
    char *path = folder_path("fifo"), got[8] = {0};
    pcol_error err;
    cr_assert_eq(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    cr_assert_geq(reader, 0);
    cr_assert_eq(write_text(path, 0, "through", &err), PCOL_OK);
    cr_assert_eq(read(reader, got, 7), 7);
    cr_assert_str_eq(got, "through");
    close(reader);
    cr_assert_eq(entries(), 1);
}

/* Descriptors of the process are written from where they are, also if their file has no name. */
Test(output, descriptors)
{
    static const char *const folders[] = {"/proc/self/fd", "/dev/fd", "/proc/thread-self/fd"};
    char *log = folder_path("log"), *gone = folder_path("gone"), path[64], got[32] = "";
    pcol_error err;
    put(log, "0");
    int named = open(log, O_RDWR | O_APPEND), deleted = open(gone, O_RDWR | O_CREAT, 0600);
    cr_assert(named >= 0 && deleted >= 0);
    cr_assert_eq(unlink(gone), 0);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%d", folders[i], named);
        cr_assert_eq(write_text(path, 0, "12", &err), PCOL_OK, "%s: %s", path, err.message);
        snprintf(path, sizeof path, "%s/%d", folders[i], deleted);
        cr_assert_eq(write_text(path, PCOL_OUTPUT_OVERWRITE, "34", &err), PCOL_OK, "%s: %s", path,
                     err.message);
    }
    expect_file(log, "0121212");
    cr_assert_eq(pread(deleted, got, sizeof got - 1, 0), 6);
    cr_expect_str_eq(got, "343434");
    cr_expect_eq(entries(), 1);
    /* A link to one that is not open; a file that only has the name of one. */
    cr_assert_eq(symlink("/dev/fd/987654", folder_path("link")), 0);
    cr_expect_eq(write_text(folder_path("link"), PCOL_OUTPUT_OVERWRITE, "5", &err), PCOL_E_IO);
    cr_assert_eq(write_text(folder_path("1"), 0, "6", &err), PCOL_OK);
    expect_file(folder_path("1"), "6");
    close(named);
    close(deleted);
}

Test(output, full_disk)
{
    struct rlimit limit = {1 << 20, 1 << 20};
    char block[4096] = {0};
    pcol_output *output;
    pcol_error err;
    pcol_status status = PCOL_OK;
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    put(folder_path("x"), "old");
    cr_assert_eq(pcol_output_open(folder_path("x"), PCOL_OUTPUT_OVERWRITE, &output, NULL), PCOL_OK);
    pcol_sink sink = pcol_output_sink(output);
    for (int i = 0; i < 1000 && status == PCOL_OK; i++)
        status = sink.write(sink.context, block, sizeof block, &err);
    cr_assert_eq(status, PCOL_E_IO);
    cr_assert_eq(sink.write(sink.context, "x", 1, &err), PCOL_E_IO);
    cr_assert_eq(pcol_output_commit(output, &err), PCOL_E_IO); /* sticky: no partial success */
    expect_file(folder_path("x"), "old");
    cr_assert_eq(entries(), 1);
}

Test(output, complete_before_it_is_in_place)
{
    pcol_output *output;
    pcol_error err;
    put(folder_path("x"), "old");
    cr_assert_eq(pcol_output_open(folder_path("x"), PCOL_OUTPUT_OVERWRITE, &output, NULL), PCOL_OK);
    pcol_sink sink = pcol_output_sink(output);
    cr_assert_eq(sink.write(sink.context, "new", 3, &err), PCOL_OK);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(pcol_output_complete(output, &err), PCOL_OK);
    expect_file(pcol_output_temporary(output), "new");
    expect_file(folder_path("x"), "old");
    cr_assert_eq(sink.write(sink.context, "x", 1, &err), PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_output_commit(output, &err), PCOL_OK);
    expect_file(folder_path("x"), "new");
    cr_assert_eq(entries(), 1);
}

Test(output, long_names)
{
    char name[256];
    pcol_error err;
    memset(name, 'n', 255);
    name[255] = 0;
    cr_assert_eq(write_text(folder_path(name), 0, "x", &err), PCOL_OK);
    expect_file(folder_path(name), "x");
    cr_assert_eq(entries(), 1);
}

Test(output, relative_path)
{
    pcol_error err;
    cr_assert_eq(chdir(folder), 0);
    cr_assert_eq(write_text("here", 0, "x", &err), PCOL_OK);
    expect_file(folder_path("here"), "x");
    cr_assert_eq(chdir("/"), 0);
}

static int failing; /* which allocation fails, counted down */

static int fail_one(void)
{
    return failing-- == 0;
}

Test(output, no_memory)
{
    char *path = folder_path("x");
    pci_alloc_hook = fail_one;
    for (int n = 0;; n++) {
        pcol_error err;
        failing = n;
        pcol_status status = write_text(path, 0, "x", &err);
        if (status == PCOL_OK)
            break;
        cr_assert_eq(status, PCOL_E_NO_MEMORY);
        cr_assert_eq(entries(), 0);
        cr_assert_lt(n, 100);
    }
    pci_alloc_hook = NULL;
}
