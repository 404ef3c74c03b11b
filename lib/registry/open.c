/*
 * open.c - opening of pcol files with the schemas of all formats, and of any profile
 *
 * The first bytes decide: a pcol file is opened, any other profile is imported and packed in
 * memory. Inputs that can be read only once are imported as streams that start with these bytes.
 * Tests: tests/unit/test_open.c.
 */
#include "registry/registry.h"

#include "builder/builder.h"
#include "format/layout.h"
#include "reader/file.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC_BYTES 8u

pcol_status pcol_file_open(const char *path, const pcol_open_options *options, pcol_file **file,
                           pcol_error *err)
{
    return pci_file_open(path, options, pci_schemas, file, err);
}

pcol_status pcol_file_open_fd(int fd, const pcol_open_options *options, pcol_file **file,
                              pcol_error *err)
{
    return pci_file_open_fd(fd, options, pci_schemas, file, err);
}

pcol_status pcol_file_open_memory(const void *data, size_t size, const pcol_open_options *options,
                                  pcol_file **file, pcol_error *err)
{
    return pci_file_open_memory(data, size, options, pci_schemas, file, err);
}

/* Opens memory that the file owns from now on, also after a failure. */
static pcol_status open_owned(void *data, size_t size, unsigned flags, int imported,
                              pcol_file **file, pcol_error *err)
{
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    options.flags = flags & ~(unsigned)(PCOL_OPEN_COPY | PCOL_OPEN_GUARD);
    pcol_status status = pcol_file_open_memory(data, size, &options, file, err);
    if (status == PCOL_OK)
        pci_file_own_memory(*file, imported);
    else
        pci_free(data);
    return status;
}

pcol_status pcol_builder_file(pcol_builder *builder, unsigned flags, const pcol_control *control,
                              pcol_file **file, pcol_error *err)
{
    void *data;
    size_t size;
    PCI_REQUIRE(file, err);
    *file = NULL;
    PCI_TRY(pcol_builder_write_memory(builder, flags, control, &data, &size, err));
    PCI_TRY(open_owned(data, size, PCOL_OPEN_UNVERIFIED, 0, file, err)); /* by construction sound */
    (*file)->trusted = builder->budget.trusted;
    if (builder->budget.input_bytes)
        (*file)->input_bytes = builder->budget.input_bytes;
    return PCOL_OK;
}

/* ---- any profile */

/* An input: `path`, `data`, `reader` or `fd`. */
struct any {
    const char *path, *name;
    const void *data;
    size_t size;
    pcol_reader reader;
    int fd;
    pcol_import_options options; /* of the caller; start: also the bytes that were read here */
};

static pcol_status import_any(const struct any *any, pcol_builder *builder, pcol_error *err)
{
    return any->path ? pcol_import_path(builder, any->path, &any->options, err)
           : any->data
               ? pcol_import_memory(builder, any->data, any->size, any->name, &any->options, err)
           : any->reader.read
               ? pcol_import_reader(builder, any->reader, any->name, &any->options, err)
               : pcol_import_fd(builder, any->fd, any->name, &any->options, err);
}

static pcol_status import_and_open(const struct any *any, pcol_file **file, pcol_error *err)
{
    pcol_builder_options building = PCOL_INIT(pcol_builder_options);
    unsigned flags = any->options.flags & PCOL_IMPORT_PACKED ? 0 : PCOL_WRITE_QUICK;
    pcol_builder *builder;
    building.threads = any->options.threads;
    PCI_TRY(pcol_builder_new(&building, &builder, err));
    pcol_status status = import_any(any, builder, err);
    if (status == PCOL_OK)
        status = pcol_builder_file(builder, flags, any->options.control, file, err);
    if (status == PCOL_OK)
        (*file)->imported = 1;
    pcol_builder_free(builder);
    return status;
}

/* 1 if a pcol file is to be opened as it is. */
static int keeps_content(const pcol_import_options *options)
{
    return (!options->format || !strcmp(options->format, "pcol")) && !options->uri &&
           !options->timestamp && !options->meta_count && !options->collapse_idle;
}

static int is_pcol(const void *data, size_t size)
{
    return size >= MAGIC_BYTES && !memcmp(data, PCF_MAGIC, MAGIC_BYTES);
}

static pcol_open_options open_options(const struct any *any)
{
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    options.flags = any->options.open_flags;
    return options;
}

static pcol_status fail_too_large(const struct any *any, pcol_error *err)
{
    return pci_error_option(err, "max_input_bytes",
                            pci_fail(err, PCOL_E_LIMIT,
                                     "input is larger than the limit of %llu bytes",
                                     (unsigned long long)any->options.max_input_bytes));
}

/* Closes a file that is larger than allowed. */
static pcol_status check_size(const struct any *any, pcol_file **file, pcol_error *err)
{
    uint64_t limit = any->options.max_input_bytes;
    if (!limit || pcol_file_size(*file) <= limit)
        return PCOL_OK;
    pcol_file_close(*file);
    *file = NULL;
    return fail_too_large(any, err);
}

/* Reads up to `size` bytes of a descriptor or reader: the input's start, or a pcol file. */
static pcol_status read_some(const struct any *any, uint8_t *data, size_t size, size_t *got,
                             pcol_error *err)
{
    ssize_t n;
    *got = 0;
    if (any->reader.read)
        return pci_program_read(any->reader, data, size, got, err);
    do
        n = read(any->fd, data, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return pci_fail_errno(err, "read");
    *got = (size_t)n;
    return PCOL_OK;
}

/* The whole rest of a stream, after the bytes at `start`. */
static pcol_status read_rest(const struct any *any, const uint8_t *start, size_t start_size,
                             uint8_t **data, size_t *size, pcol_error *err)
{
    void *all = NULL;
    size_t capacity = 0, used = start_size, got;
    pcol_status status;
    do {
        if (any->options.max_input_bytes && used > any->options.max_input_bytes)
            status = fail_too_large(any, err);
        else if (pci_grow(&all, &capacity, used + (1u << 16), 1))
            status = pci_fail_memory(err);
        else
            status = read_some(any, (uint8_t *)all + used, capacity - used, &got, err);
        used += status == PCOL_OK ? got : 0;
    } while (status == PCOL_OK && got);
    if (status != PCOL_OK) {
        pci_free(all);
        return status;
    }
    memcpy(all, start, start_size);
    *data = all;
    *size = used;
    return PCOL_OK;
}

/* An input that can be read only once. */
static pcol_status open_stream(struct any *any, pcol_file **file, pcol_error *err)
{
    uint8_t start[MAGIC_BYTES], *data;
    size_t size = 0, got = 1;
    if (any->options.start_size >= MAGIC_BYTES)
        memcpy(start, any->options.start, size = MAGIC_BYTES);
    else if (any->options.start_size)
        memcpy(start, any->options.start, size = any->options.start_size);
    size_t given = size;
    for (; size < sizeof start && got; size += got)
        PCI_TRY(read_some(any, start + size, sizeof start - size, &got, err));
    if (size > given || !any->options.start_size) {
        any->options.start = start;
        any->options.start_size = size;
    }
    if (!keeps_content(&any->options) || !is_pcol(start, size))
        return import_and_open(any, file, err);
    PCI_TRY(read_rest(any, any->options.start, any->options.start_size, &data, &size, err));
    return open_owned(data, size, any->options.open_flags, 0, file, err);
}

static int ends_in_pcol(const char *name)
{
    size_t size = strlen(name);
    return size > 5 && !strcmp(name + size - 5, ".pcol");
}

/* A regular file; imports open it again by its name, so that they can read parts of it. */
static pcol_status open_regular(const struct any *any, int fd, pcol_file **file, pcol_error *err)
{
    uint8_t start[MAGIC_BYTES];
    pcol_open_options options = open_options(any);
    ssize_t got = pread(fd, start, sizeof start, 0);
    if (got < 0)
        return pci_fail_errno(err, "read");
    if (!keeps_content(&any->options) || (!is_pcol(start, (size_t)got) && !ends_in_pcol(any->path)))
        return import_and_open(any, file, err);
    PCI_TRY(pcol_file_open_fd(fd, &options, file, err));
    return check_size(any, file, err);
}

static pcol_status read_options(struct any *any, const pcol_import_options *options,
                                pcol_file **file, pcol_error *err)
{
    PCI_REQUIRE(file, err);
    *file = NULL;
    PCI_STRUCT_READ(pcol_import_options, any->options, options, err);
    if (any->options.format && !strcmp(any->options.format, "auto"))
        any->options.format = NULL;
    return any->options.start_size && !any->options.start
               ? pci_fail(err, PCOL_E_ARGUMENT, "start_size is set, but start is NULL")
               : PCOL_OK;
}

static pcol_status set_trust(const struct any *any, pcol_file **file, pcol_status status)
{
    if (status == PCOL_OK)
        (*file)->trusted = (any->options.flags & PCOL_IMPORT_TRUSTED) != 0;
    return status;
}

pcol_status pcol_open_any_path(const char *path, const pcol_import_options *options,
                               pcol_file **file, pcol_error *err)
{
    struct any any = {.path = path};
    struct stat info;
    PCI_TRY(read_options(&any, options, file, err));
    PCI_REQUIRE(path, err);
    do
        any.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (any.fd < 0 && errno == EINTR);
    if (any.fd < 0)
        return pci_fail_errno(err, "open");
    pcol_status status;
    if (fstat(any.fd, &info)) {
        status = pci_fail_errno(err, "read");
    } else if (S_ISREG(info.st_mode)) {
        status = open_regular(&any, any.fd, file, err);
    } else if (S_ISDIR(info.st_mode)) {
        status = pci_fail(err, PCOL_E_IO, "is a directory");
    } else {
        any.name = path;
        any.path = NULL;
        status = open_stream(&any, file, err);
    }
    close(any.fd);
    return set_trust(&any, file, status);
}

pcol_status pcol_open_any_fd(int fd, const char *name, const pcol_import_options *options,
                             pcol_file **file, pcol_error *err)
{
    struct any any = {.fd = fd, .name = name};
    PCI_TRY(read_options(&any, options, file, err));
    if (fd < 0)
        return pci_fail(err, PCOL_E_ARGUMENT, "not a file descriptor");
    return set_trust(&any, file, open_stream(&any, file, err));
}

pcol_status pcol_open_any_reader(pcol_reader reader, const char *name,
                                 const pcol_import_options *options, pcol_file **file,
                                 pcol_error *err)
{
    struct any any = {.reader = reader, .name = name};
    PCI_TRY(read_options(&any, options, file, err));
    PCI_REQUIRE(reader.read, err);
    return set_trust(&any, file, open_stream(&any, file, err));
}

pcol_status pcol_open_any_memory(const void *data, size_t size, const char *name,
                                 const pcol_import_options *options, pcol_file **file,
                                 pcol_error *err)
{
    struct any any = {.data = data ? data : "", .size = size, .name = name};
    PCI_TRY(read_options(&any, options, file, err));
    PCI_REQUIRE_MANY(data, size, err);
    if (!keeps_content(&any.options) || !is_pcol(any.data, size))
        return set_trust(&any, file, import_and_open(&any, file, err));
    pcol_open_options opening = open_options(&any);
    PCI_TRY(pcol_file_open_memory(data, size, &opening, file, err));
    return set_trust(&any, file, check_size(&any, file, err));
}
