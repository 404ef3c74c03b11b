/*
 * cli_input.c - opening a .pcol, or any other profile through an import in memory
 *
 * A file that starts with the magic bytes is mapped. Other files are imported and packed in memory.
 * For inputs that cannot be mapped (stdin, a named pipe) the first bytes decide: a .pcol is read
 * into memory, other input is imported as a stream that starts with these bytes.
 *
 * Maps are guarded: truncation or a disk failure is an error of that file, and before an output is
 * renamed into place all inputs are checked for changes.
 */
#include "cli.h"
#include "cli_losses.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* spec.md, "Header": the first eight bytes of every pcol file. */
static const unsigned char magic[8] = {0x89, 'P', 'C', 'O', 'L', '\r', '\n', 0x1a};

static struct cli_input *mapped; /* list of mapped inputs */

static pcol_import_options import_options(const struct cli_args *args, const pcol_control *control)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);

    if (args->from != NULL && strcmp(args->from, "auto") != 0)
        options.format = args->from;
    options.uri = args->source_uri;
    options.timestamp = args->source_timestamp;
    options.meta = args->meta.items;
    options.meta_count = args->meta.count / 2;
    options.lenient = args->lenient;
    options.collapse_idle = args->collapse_idle;
    options.idle_tolerance_ns = args->tolerance_ns;
    if (args->max_input != CLI_UNSET)
        options.max_input_bytes = args->max_input;
    options.flags = args->trusted ? PCOL_IMPORT_TRUSTED : 0;
    options.threads = cli_threads(args);
    options.control = control;
    options.open_flags = PCOL_OPEN_GUARD;
    return options;
}

static int fail_errno(const char *name)
{
    return cli_fail(CLI_IO, "%s: %s", name, strerror(errno));
}

int cli_import(pcol_builder *builder, const char *path, const struct cli_args *args)
{
    struct cli_notices notices = {args, path, NULL, 0};
    pcol_control control = cli_control(&notices);
    pcol_import_options options = import_options(args, &control);
    pcol_error err;
    pcol_status status;

    cli_progress_input();
    if (strcmp(path, "-") == 0)
        status = pcol_import_fd(builder, STDIN_FILENO, path, &options, &err);
    else
        status = pcol_import_path(builder, path, &options, &err);
    return status == PCOL_OK ? CLI_OK : cli_fail_error(path, &err);
}

/* Read up to `size` bytes; -1 on an error. */
static ssize_t read_fully(int fd, void *data, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t got = read(fd, (char *)data + done, size - done);
        if (got == 0)
            break;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

/* Read the remaining bytes of a .pcol that begins with `start`. */
static int read_into_memory(struct cli_input *input, int fd, const void *start, size_t start_size,
                            size_t *size)
{
    size_t capacity = 1u << 16;
    char *data = malloc(capacity);

    *size = start_size;
    if (data == NULL)
        return cli_fail_memory();
    memcpy(data, start, start_size);
    for (;;) {
        ssize_t got = read_fully(fd, data + *size, capacity - *size);
        if (got < 0) {
            free(data);
            return fail_errno(input->name);
        }
        *size += (size_t)got;
        if (*size < capacity)
            break;
        char *grown = capacity <= SIZE_MAX / 2 ? realloc(data, 2 * capacity) : NULL;
        if (grown == NULL) {
            free(data);
            return cli_fail_memory();
        }
        data = grown;
        capacity *= 2;
    }
    input->memory = data;
    return CLI_OK;
}

static int open_in_memory(struct cli_input *input, size_t size)
{
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    pcol_error err;

    if (input->from_library) /* verified by construction: just packed */
        options.flags = PCOL_OPEN_UNVERIFIED;
    if (pcol_file_open_memory(input->memory, size, &options, &input->file, &err) != PCOL_OK)
        return cli_fail_error(input->name, &err);
    return CLI_OK;
}

/* Import from a path or, if fd is not negative, from fd, whose first bytes are `start`; open the
 * result. */
static int import(struct cli_input *input, int fd, const void *start, size_t start_size,
                  const struct cli_args *args)
{
    struct cli_notices notices = {args, input->name, NULL, 0};
    pcol_control control = cli_control(&notices);
    pcol_import_options options = import_options(args, &control);
    pcol_builder_options building = PCOL_INIT(pcol_builder_options);
    pcol_builder *builder = NULL;
    pcol_error err;
    size_t size = 0;
    int code = CLI_OK;

    building.threads = cli_threads(args);
    pcol_status status = pcol_builder_new(&building, &builder, &err);

    options.start = start;
    options.start_size = start_size;
    cli_progress_begin(args, 1);
    if (status == PCOL_OK && fd >= 0)
        status = pcol_import_fd(builder, fd, input->name, &options, &err);
    else if (status == PCOL_OK)
        status = pcol_import_path(builder, input->name, &options, &err);
    if (status == PCOL_OK)
        status = pcol_builder_write_memory(builder, input->write_flags, NULL, &input->memory, &size,
                                           &err);
    pcol_builder_free(builder);
    cli_progress_end();
    if (status != PCOL_OK)
        code = cli_fail_error(input->name, &err);
    input->from_library = 1;
    input->imported = 1;
    return code == CLI_OK ? open_in_memory(input, size) : code;
}

static int open_path(struct cli_input *input)
{
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    pcol_error err;

    options.flags = PCOL_OPEN_GUARD;
    if (pcol_file_open(input->name, &options, &input->file, &err) != PCOL_OK)
        return cli_fail_error(input->name, &err);
    input->next = mapped;
    mapped = input;
    return CLI_OK;
}

static int ends_in_pcol(const char *name)
{
    size_t size = strlen(name);
    return size > 5 && strcmp(name + size - 5, ".pcol") == 0;
}

/* Open a pipe or terminal, which can be read only once. */
static int open_stream(struct cli_input *input, int fd, const struct cli_args *args)
{
    unsigned char start[sizeof magic];
    ssize_t got = read_fully(fd, start, sizeof start);
    size_t size = 0;
    int code;

    if (got < 0)
        return fail_errno(input->name);
    if (got == sizeof magic && memcmp(start, magic, sizeof magic) == 0) {
        code = read_into_memory(input, fd, start, sizeof start, &size);
        return code == CLI_OK ? open_in_memory(input, size) : code;
    }
    return import(input, fd, start, (size_t)got, args);
}

static int open_input(struct cli_input *input, const char *path, const struct cli_args *args,
                      unsigned write_flags)
{
    unsigned char start[sizeof magic];
    struct stat info;
    int standard = strcmp(path, "-") == 0;
    int code;
    ssize_t got;

    memset(input, 0, sizeof *input);
    input->name = path;
    input->write_flags = write_flags;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 || fstat(fd, &info) != 0) {
        code = fail_errno(path);
    } else if (S_ISDIR(info.st_mode)) {
        code = cli_fail(CLI_IO, "%s: is a directory", path);
    } else if (!S_ISREG(info.st_mode) || standard) {
        code = open_stream(input, fd, args);
    } else {
        input->bytes = (uint64_t)info.st_size;
        got = pread(fd, start, sizeof start, 0);
        if (got < 0)
            code = fail_errno(path);
        else if (args->from == NULL &&
                 ((got == sizeof magic && memcmp(start, magic, sizeof magic) == 0) ||
                  ends_in_pcol(path)))
            code = open_path(input);
        else
            code = import(input, -1, NULL, 0, args);
    }
    if (fd >= 0 && !standard)
        close(fd);
    if (code != CLI_OK)
        cli_input_close(input);
    return code;
}

int cli_input_open(struct cli_input *input, const char *path, const struct cli_args *args)
{
    return open_input(input, path, args, PCOL_WRITE_QUICK);
}

int cli_input_open_packed(struct cli_input *input, const char *path, const struct cli_args *args)
{
    return open_input(input, path, args, 0);
}

/* Merge all operands into one file in memory. */
static int merge(struct cli_input *input, const struct cli_args *args)
{
    pcol_builder *builder = NULL;
    pcol_error err;
    size_t size = 0;
    int code = cli_builder_new(args, &builder);

    cli_progress_begin(args, args->operand_count);
    for (size_t i = 0; i < args->operand_count && code == CLI_OK; i++)
        code = cli_import(builder, args->operands[i], args);
    cli_progress_end();
    if (code == CLI_OK && pcol_builder_write_memory(builder, PCOL_WRITE_QUICK, NULL, &input->memory,
                                                    &size, &err) != PCOL_OK)
        code = cli_fail_error(NULL, &err);
    pcol_builder_free(builder);
    input->from_library = 1;
    input->imported = 1;
    return code == CLI_OK ? open_in_memory(input, size) : code;
}

int cli_input_open_all(struct cli_input *input, const struct cli_args *args)
{
    int code;

    if (args->operand_count == 1)
        return cli_input_open(input, args->operands[0], args);
    memset(input, 0, sizeof *input);
    input->name = "all inputs";
    code = merge(input, args);
    if (code != CLI_OK)
        cli_input_close(input);
    return code;
}

int cli_each_operand(const struct cli_args *args,
                     int (*one)(const struct cli_args *args, const char *path, struct cli_out *out),
                     int keep)
{
    static struct cli_out out;
    int code = cli_out_open(&out, args);
    int worst = CLI_OK;

    if (code != CLI_OK)
        return code;
    for (size_t i = 0; i < args->operand_count && out.code == 0; i++)
        worst = cli_worst_code(worst, one(args, args->operands[i], &out));
    code = cli_out_finish(&out, keep ? CLI_OK : worst);
    return cli_worst_code(worst, code);
}

int cli_inputs_intact(void)
{
    static int code = CLI_OK;
    pcol_error err;

    for (struct cli_input *i = mapped; i != NULL && !cli_has_failed(); i = i->next)
        if (pcol_file_intact(i->file, &err) != PCOL_OK)
            code = cli_fail_error(i->name, &err);
    return code;
}

void cli_input_close(struct cli_input *input)
{
    struct cli_input **at = &mapped;

    while (*at != NULL && *at != input)
        at = &(*at)->next;
    if (*at != NULL) {
        (void)cli_inputs_intact();
        *at = input->next;
    }
    pcol_file_close(input->file);
    if (input->from_library)
        pcol_free(input->memory);
    else
        free(input->memory);
    input->file = NULL;
    input->memory = NULL;
}
