/*
 * file.c - open and close of a pcol file, lookup of tables and columns
 *
 * Opening copies header, index and end mark with pread into private memory, where they cannot
 * change, validates them and maps the file; sections are not read. One allocation contains the
 * handle, the index and the tables; a second one the NUL-terminated names.
 * Tests: tests/unit/test_util.c, tests/unit/test_sigbus_guard.c, tests/hostile/faults.
 */
#include "reader/file.h"
#include "reader/file_tables.h"

#include "reader/archive_read.h"
#include "reader/file_map.h"
#include "reader/row_references.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/sized_struct.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BORROWED, MAPPED, ALLOCATED };

/* Source of the bytes during open: a descriptor, or memory if fd is -1. */
struct origin {
    int fd;
    const uint8_t *bytes;
    uint64_t size;
    struct timespec modified;
};

static pcol_status read_at(const struct origin *o, uint64_t offset, void *to, uint64_t size,
                           pcol_error *err)
{
    if (o->fd < 0) {
        memcpy(to, o->bytes + offset, (size_t)size);
        return PCOL_OK;
    }
    for (uint64_t done = 0; done < size;) {
        ssize_t n =
            pread(o->fd, (uint8_t *)to + done, (size_t)(size - done), (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return pci_fail_errno(err, "read the file");
        if (n == 0)
            return pci_fail_at_byte(err, PCOL_E_TRUNCATED, offset + done,
                                    "file was truncated while it was opened");
        done += (uint64_t)n;
    }
    return PCOL_OK;
}

static pcol_status fail_fault(pcol_error *err, const struct pcf_fault *fault)
{
    static const pcol_status status[] = {
        [PCF_FAULT_NONE] = PCOL_E_CORRUPT,    [PCF_FAULT_MAGIC] = PCOL_E_MAGIC,
        [PCF_FAULT_VERSION] = PCOL_E_VERSION, [PCF_FAULT_TRUNCATED] = PCOL_E_TRUNCATED,
        [PCF_FAULT_CORRUPT] = PCOL_E_CORRUPT, [PCF_FAULT_CHECKSUM] = PCOL_E_CHECKSUM,
    };
    if (fault->has_number)
        return pci_fail_at_byte(err, status[fault->kind], fault->offset, "%s %llu", fault->message,
                                (unsigned long long)fault->number);
    return pci_fail_at_byte(err, status[fault->kind], fault->offset, "%s", fault->message);
}

/* ---- memory of the handle */

/* Bump allocator with 64-byte alignment; without a block it only adds up the sizes. */
struct arena {
    uint8_t *block;
    uint64_t used;
};

static void *allocate(struct arena *a, uint64_t count, uint64_t size)
{
    uint64_t offset = a->used;
    a->used += (count * size + 63) / 64 * 64; /* cannot overflow: counts are limited */
    return a->block ? a->block + offset : NULL;
}

struct parts {
    pcol_file *file;
    uint8_t *index;
    uint32_t *scratch;
    struct pcf_table *table_records;
    struct pcf_column *column_records;
    struct pcf_section *section_records;
    struct pcf_data *data;
    struct pci_table *tables;
    struct pci_column *columns;
    _Atomic uint8_t *state;
};

static void allocate_all(struct arena *a, const struct pcf_header *h, struct parts *p)
{
    p->file = allocate(a, 1, sizeof *p->file);
    p->index = allocate(a, 1, pcf_index_raw_size(h));
    p->scratch = allocate(a, pcf_index_scratch(h), sizeof *p->scratch);
    p->table_records = allocate(a, h->table_count, sizeof *p->table_records);
    p->column_records = allocate(a, h->column_count, sizeof *p->column_records);
    p->section_records = allocate(a, h->section_count, sizeof *p->section_records);
    p->data = allocate(a, h->column_count, sizeof *p->data);
    p->tables = allocate(a, h->table_count, sizeof *p->tables);
    p->columns = allocate(a, h->column_count, sizeof *p->columns);
    p->state = allocate(a, h->section_count, sizeof *p->state);
}

/* E_LIMIT for a size or a number of rows that objects cannot have: where addresses have 32 bits. */
static pcol_status check_addressable(uint64_t number, pcol_error *err)
{
    if (number > (uint64_t)PTRDIFF_MAX)
        return pci_fail(err, PCOL_E_LIMIT, "the file is too large for a program of %zu bits",
                        8 * sizeof(void *));
    return PCOL_OK;
}

static pcol_status check_index_addressable(const struct pcf_index *x, pcol_error *err)
{
    for (uint32_t i = 0; i < x->header.section_count; i++)
        PCI_TRY(check_addressable(x->sections[i].raw_size, err));
    for (uint32_t i = 0; i < x->header.column_count; i++)
        PCI_TRY(check_addressable(x->columns[i].rows, err));
    for (uint32_t i = 0; i < x->header.table_count; i++)
        PCI_TRY(check_addressable(x->tables[i].rows, err));
    return PCOL_OK;
}

static pcol_status new_file(const struct pcf_header *h, struct parts *p, pcol_error *err)
{
    struct arena a = {NULL, 0};
    allocate_all(&a, h, p);
    PCI_TRY(check_addressable(a.used, err));
    PCI_TRY(PCI_MALLOC(a.block, (size_t)a.used, err));
    a.used = 0;
    allocate_all(&a, h, p);
    pcol_file *f = p->file;
    memset(f, 0, sizeof *f);
    atomic_init(&f->lost, 0);
    atomic_init(&f->schema_known, 0);
    atomic_init(&f->arrays_known, 0);
    f->fd = -1;
    f->index =
        (struct pcf_index){*h, p->table_records, p->column_records, p->section_records, NULL};
    f->data = p->data;
    f->tables = p->tables;
    f->columns = p->columns;
    f->section_state = p->state;
    for (uint32_t i = 0; i < h->section_count; i++)
        atomic_init(&f->section_state[i], PCI_SECTION_UNKNOWN);
    return PCOL_OK;
}

/* ---- opening */

static pcol_status read_compressed_index(const struct origin *o, const struct pcf_header *header,
                                         uint8_t *index, pcol_error *err)
{
    uint8_t *stored = pci_malloc((size_t)header->index_size, 1);
    pcol_status status = stored ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, read_at(o, header->index_offset, stored, header->index_size, err));
    PCI_THEN(status, pci_archive_read_index(header, stored, index, err));
    pci_free(stored);
    return status;
}

/* Bytes read at once at open: in a small file, header and index. */
#define PREFIX_BYTES 4096u

/* The index of a plain file; a copy of the prefix if that contains it. */
static pcol_status read_index(const struct origin *o, const struct pcf_header *h,
                              const uint8_t *prefix, uint64_t prefix_size, uint8_t *index,
                              pcol_error *err)
{
    if (h->index_offset + h->index_size > prefix_size)
        return read_at(o, h->index_offset, index, h->index_size, err);
    memcpy(index, prefix + h->index_offset, (size_t)h->index_size);
    return PCOL_OK;
}

/* Reads and validates header, index and end mark. *file is set as soon as it is allocated, so the
 * caller releases it after an error; it has no bytes yet. */
static pcol_status load(const struct origin *o, pcol_file **file, pcol_error *err)
{
    uint8_t prefix[PREFIX_BYTES], end[sizeof(struct pcf_end)];
    struct pcf_header header;
    struct pcf_fault fault;
    struct parts parts;
    uint64_t size = o->size < sizeof prefix ? o->size : sizeof prefix;
    PCI_TRY(read_at(o, 0, prefix, size, err));
    if (pcf_header_check(prefix, size, o->size, &header, &fault))
        return fail_fault(err, &fault);
    PCI_TRY(read_at(o, o->size - sizeof end, end, sizeof end, err));
    if (pcf_end_check(end, o->size, &fault))
        return fail_fault(err, &fault);
    PCI_TRY(new_file(&header, &parts, err));
    parts.file->size = parts.file->input_bytes = o->size;
    *file = parts.file;
    if (pcf_is_archive(&header))
        PCI_TRY(read_compressed_index(o, &header, parts.index, err));
    else
        PCI_TRY(read_index(o, &header, prefix, size, parts.index, err));
    if (pcf_index_load(parts.index, parts.scratch, &parts.file->index, &fault)) {
        pcol_status status = fail_fault(err, &fault);
        if (pcf_is_archive(&header) && err) {
            err->inflated_offset = fault.offset - header.index_offset;
            err->offset = header.index_offset;
        }
        return status;
    }
    return pci_file_new_names(parts.file, err);
}

/* Registers the map with the SIGBUS guard. The duplicated descriptor serves pcol_file_intact(). */
static pcol_status guard_map(pcol_file *f, const struct origin *o, pcol_error *err)
{
    f->modified = o->modified;
    PCI_TRY(pci_duplicate_descriptor(o->fd, &f->fd, err));
    return pci_sigbus_begin(f->bytes, (size_t)f->size, &f->lost, &f->guard, err);
}

/* Sets the bytes of the handle: a map, a copy, or the caller's memory. */
static pcol_status attach_bytes(pcol_file *f, const struct origin *o, unsigned flags,
                                pcol_error *err)
{
    if (flags & PCOL_OPEN_COPY || (o->fd >= 0 && !PCI_CAN_MAP)) {
        uint8_t *bytes;
        PCI_TRY(PCI_MALLOC(bytes, (size_t)f->size, err));
        f->bytes = bytes;
        f->owned = ALLOCATED;
        return read_at(o, 0, bytes, f->size, err);
    }
    if (o->fd < 0) {
        f->bytes = o->bytes;
        f->owned = BORROWED;
        return PCOL_OK;
    }
    PCI_TRY(pci_map_file(o->fd, (size_t)f->size, &f->bytes, err));
    f->owned = MAPPED;
    return flags & PCOL_OPEN_GUARD ? guard_map(f, o, err) : PCOL_OK;
}

static void release(pcol_file *f)
{
    pci_sigbus_end(f->guard);
    if (f->fd >= 0)
        close(f->fd);
    if (f->owned == MAPPED)
        pci_unmap_file(f->bytes, (size_t)f->size);
    else if (f->owned == ALLOCATED)
        pci_free((void *)(uintptr_t)f->bytes);
    pci_hash_clear(&f->by_name);
    pci_hash_clear(&f->by_table);
    pci_free((void *)(uintptr_t)f->known_text_rules);
    pci_free(f->memory);
    pci_free(f);
}

/* Copies the caller's options; callers of an older version have a smaller struct. */
static pcol_status check_options(const pcol_open_options *options, pcol_open_options *all,
                                 pcol_error *err)
{
    PCI_STRUCT_READ(pcol_open_options, *all, options, err);
    if (all->flags & ~(PCOL_OPEN_COPY | PCOL_OPEN_GUARD | PCOL_OPEN_UNVERIFIED))
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown flags for opening: 0x%x", all->flags);
    if (!all->archive_bytes)
        all->archive_bytes = PCI_ARCHIVE_CACHE_BYTES;
    return PCOL_OK;
}

static pcol_status open_origin(const struct origin *o, const pcol_open_options *options,
                               const struct pci_format_schema *const *schemas, pcol_file **file,
                               pcol_error *err)
{
    pcol_file *f = NULL;
    pcol_status status = load(o, &f, err);
    if (!f)
        return status;
    PCI_THEN(status, check_addressable(f->size, err));
    PCI_THEN(status, check_index_addressable(&f->index, err));
    PCI_THEN(status, attach_bytes(f, o, options->flags, err));
    if (status == PCOL_OK && pcf_is_archive(&f->index.header))
        status = pci_archive_open(f, options->archive_bytes, err);
    if (status == PCOL_OK) {
        f->unverified = (options->flags & PCOL_OPEN_UNVERIFIED) != 0;
        f->schemas = schemas;
        pci_file_fill_columns(f);
        status = pci_file_fill_tables(f, err);
    }
    if (status == PCOL_OK && pci_mutex_init(&f->lock) != 0)
        status = pci_fail_memory(err);
    if (status != PCOL_OK) {
        pci_archive_close(f);
        release(f);
        return status;
    }
    const struct pci_table *strings = pci_table_find(f, "strings");
    const struct pci_column *value = pci_column_find(strings, "value");
    if (value && value->desc->type == PCF_BYTES)
        f->strings = value;
    pci_references_set_limits(f);
    *file = f;
    return PCOL_OK;
}

/* Opens the file of a descriptor, which stays the caller's. */
static pcol_status open_descriptor(int fd, const pcol_open_options *options,
                                   const struct pci_format_schema *const *schemas, pcol_file **file,
                                   pcol_error *err)
{
    struct origin o = {fd, NULL, 0, {0, 0}};
    struct stat st;
    if (fstat(fd, &st) != 0)
        return pci_fail_errno(err, "stat the file");
    if (S_ISDIR(st.st_mode))
        return pci_fail(err, PCOL_E_IO, "cannot open the file: is a directory");
    if (!S_ISREG(st.st_mode))
        return pci_fail(err, PCOL_E_IO, "cannot map the file: is not a regular file");
    o.size = (uint64_t)st.st_size;
    o.modified = st.st_mtim;
    return open_origin(&o, options, schemas, file, err);
}

pcol_status pci_file_open(const char *path, const pcol_open_options *options,
                          const struct pci_format_schema *const *schemas, pcol_file **file,
                          pcol_error *err)
{
    pcol_open_options known;
    int fd;
    if (!file)
        return pci_fail(err, PCOL_E_ARGUMENT, "pointer for the file handle is NULL");
    *file = NULL;
    if (!path)
        return pci_fail(err, PCOL_E_ARGUMENT, "no path");
    PCI_TRY(check_options(options, &known, err));
    do { /* O_NONBLOCK: fail on a pipe without a writer instead of blocking */
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return pci_fail_errno(err, "open the file");
    pcol_status status = open_descriptor(fd, &known, schemas, file, err);
    close(fd);
    return status;
}

pcol_status pci_file_open_fd(int fd, const pcol_open_options *options,
                             const struct pci_format_schema *const *schemas, pcol_file **file,
                             pcol_error *err)
{
    pcol_open_options known;
    if (!file)
        return pci_fail(err, PCOL_E_ARGUMENT, "pointer for the file handle is NULL");
    *file = NULL;
    if (fd < 0)
        return pci_fail(err, PCOL_E_ARGUMENT, "not a file descriptor");
    PCI_TRY(check_options(options, &known, err));
    return open_descriptor(fd, &known, schemas, file, err);
}

pcol_status pci_file_open_memory(const void *data, size_t size, const pcol_open_options *options,
                                 const struct pci_format_schema *const *schemas, pcol_file **file,
                                 pcol_error *err)
{
    struct origin o = {-1, data ? data : "", size, {0, 0}};
    pcol_open_options known;
    if (!file)
        return pci_fail(err, PCOL_E_ARGUMENT, "pointer for the file handle is NULL");
    *file = NULL;
    if (!data && size)
        return pci_fail(err, PCOL_E_ARGUMENT, "no data");
    PCI_TRY(check_options(options, &known, err));
    return open_origin(&o, &known, schemas, file, err);
}

void pci_file_own_memory(pcol_file *file, int imported)
{
    file->owned = ALLOCATED;
    file->imported = imported;
}

int pcol_file_is_imported(const pcol_file *file)
{
    return file && file->imported;
}

pcol_file *pcol_file_retain(const pcol_file *file)
{
    /* Counting does not change the file as the caller sees it. */
    pcol_file *counted = (pcol_file *)(uintptr_t)file;
    if (counted)
        atomic_fetch_add_explicit(&counted->references, 1, memory_order_relaxed);
    return counted;
}

void pcol_file_close(pcol_file *file)
{
    if (!file || atomic_fetch_sub_explicit(&file->references, 1, memory_order_acq_rel) != 0)
        return;
    if (file->models)
        file->models_free(file->models);
    pci_mutex_destroy(&file->lock);
    pci_archive_close(file);
    for (uint32_t i = 0; i < file->index.header.column_count; i++)
        pci_decoded_blocks_free(
            atomic_load_explicit(&file->columns[i].blocks, memory_order_relaxed));
    release(file);
}

/* ---- detection of modifications */

pcol_status pci_fail_changed(const pcol_file *file, pcol_error *err)
{
    struct stat st;
    if (fstat(file->fd, &st) == 0 && (uint64_t)st.st_size < file->size)
        return pci_fail(err, PCOL_E_IO, "the file was truncated while being read");
    return pci_fail(err, PCOL_E_IO, "the file could not be read while it was mapped");
}

pcol_status pcol_file_intact(const pcol_file *file, pcol_error *err)
{
    PCI_REQUIRE(file, err);
    struct stat st;
    PCI_TRY(pci_check_unchanged(file, err));
    if (file->fd < 0)
        return PCOL_OK;
    if (fstat(file->fd, &st) != 0)
        return pci_fail_errno(err, "stat the file");
    if ((uint64_t)st.st_size < file->size)
        return pci_fail_changed(file, err);
    if ((uint64_t)st.st_size != file->size || st.st_mtim.tv_sec != file->modified.tv_sec ||
        st.st_mtim.tv_nsec != file->modified.tv_nsec)
        return pci_fail(err, PCOL_E_IO, "the file was changed while being read");
    return PCOL_OK;
}

uint64_t pcol_file_size(const pcol_file *file)
{
    if (!file)
        return 0;
    return file->size;
}

int pcol_file_is_archive(const pcol_file *file)
{
    if (!file)
        return 0;
    return pcf_is_archive(&file->index.header);
}

uint64_t pcol_file_unpacked_size(const pcol_file *file)
{
    if (!file)
        return 0;
    uint64_t size = file->size;
    if (!pcf_is_archive(&file->index.header))
        return size;
    size += pcf_index_raw_size(&file->index.header) - file->index.header.index_size;
    for (uint32_t i = 0; i < file->index.header.section_count; i++)
        size += file->index.sections[i].raw_size - file->index.sections[i].size;
    return size;
}

void pcol_file_version(const pcol_file *file, unsigned *major, unsigned *minor)
{
    if (major)
        *major = file ? file->index.header.major : 0;
    if (minor)
        *minor = file ? file->index.header.minor : 0;
}
