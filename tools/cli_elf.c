/*
 * cli_elf.c - program headers and build ids of ELF files, of 32 and 64 bits and both byte orders
 *
 * Files are untrusted: every offset and size is compared with the size of the file, nothing but
 * headers and notes is read, and both have a limit, since headers may refer to the same bytes.
 * Tests: suite symbolize.
 */
#include "cli_elf.h"

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_NOTES (1u << 20) /* bytes of all segments of notes */
#define MOST_HEADERS 1024u    /* each address is compared with all of them */

enum { TYPE_EXECUTABLE = 2, TYPE_SHARED = 3, SEGMENT_LOAD = 1, SEGMENT_NOTE = 4, EXECUTABLE = 1 };
enum { NOTE_GNU_BUILD_ID = 3, NOTE_GO_BUILD_ID = 4 };

struct reader {
    const char *path;
    int fd, is_64, is_big;
    uint64_t size, notes; /* of the file; of the notes that were read */
};

/* Offsets and sizes of fields, in files of 32 and 64 bits. */
struct field {
    unsigned char at[2], size[2];
};
static const struct field phoff = {{28, 32}, {4, 8}}, phentsize = {{42, 54}, {2, 2}},
                          phnum = {{44, 56}, {2, 2}}, p_type = {{0, 0}, {4, 4}},
                          p_flags = {{24, 4}, {4, 4}}, p_offset = {{4, 8}, {4, 8}},
                          p_vaddr = {{8, 16}, {4, 8}}, p_filesz = {{16, 32}, {4, 8}},
                          p_align = {{28, 48}, {4, 8}};
enum { HEADER = 64, ENTRY_32 = 32, ENTRY_64 = 56 };

static uint64_t number(const struct reader *r, const unsigned char *data, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value = value << 8 | data[r->is_big ? i : size - 1 - i];
    return value;
}

static uint64_t get(const struct reader *r, const unsigned char *record, const struct field *field)
{
    return number(r, record + field->at[r->is_64], field->size[r->is_64]);
}

static int fail_format(const struct reader *r, const char *what)
{
    return cli_fail(CLI_INPUT, "%s: %s", r->path, what);
}

/* Read bytes that the file must have. */
static int read_at(const struct reader *r, uint64_t offset, void *data, size_t size)
{
    size_t done = 0;

    if (offset > r->size || size > r->size - offset)
        return fail_format(r, "the ELF headers point beyond the end of the file");
    while (done < size) {
        ssize_t n = pread(r->fd, (char *)data + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cli_fail(CLI_IO, "%s: cannot read: %s", r->path, strerror(errno));
        if (n == 0)
            return fail_format(r, "the file became shorter while it was read");
        done += (size_t)n;
    }
    return CLI_OK;
}

/* ---- notes ---- */

static void put_hex(const unsigned char *data, size_t size, char *text)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[data[i] >> 4];
        text[2 * i + 1] = digits[data[i] & 15];
    }
    text[2 * size] = '\0';
}

static void take_note(struct cli_elf *elf, uint64_t type, const unsigned char *name,
                      size_t name_size, const unsigned char *data, size_t size)
{
    if (type == NOTE_GNU_BUILD_ID && name_size == 4 && memcmp(name, "GNU", 4) == 0 && size > 0 &&
        size < CLI_ELF_BUILD_ID / 2 && elf->build_id[0] == '\0')
        put_hex(data, size, elf->build_id);
    if (type == NOTE_GO_BUILD_ID && name_size == 4 && memcmp(name, "Go\0", 4) == 0 && size > 0 &&
        size < CLI_ELF_BUILD_ID && memchr(data, '\0', size) == NULL)
        memcpy(elf->go_build_id, data, size); /* the rest is zeros */
}

static size_t padded(size_t size, size_t align)
{
    return (size + align - 1) / align * align;
}

/* Notes: sizes of name and content, type, name, content. Content and the next note begin at a
 * multiple of `align` from the first note. A malformed rest is ignored. */
static void take_notes(struct cli_elf *elf, const struct reader *r, const unsigned char *data,
                       size_t size, size_t align)
{
    enum { NOTE = 12 };

    for (size_t at = 0; size - at >= NOTE;) {
        size_t name_size = (size_t)number(r, data + at, 4);
        size_t content_size = (size_t)number(r, data + at + 4, 4);
        uint64_t type = number(r, data + at + 8, 4);
        at += NOTE;
        if (name_size > size - at || padded(at + name_size, align) > size)
            return;
        const unsigned char *name = data + at;
        at = padded(at + name_size, align);
        if (content_size > size - at)
            return;
        take_note(elf, type, name, name_size, data + at, content_size);
        if (padded(at + content_size, align) > size)
            return;
        at = padded(at + content_size, align);
    }
}

static int read_notes(struct cli_elf *elf, struct reader *r, uint64_t offset, uint64_t size,
                      uint64_t align)
{
    unsigned char *data;

    if (size > MOST_NOTES - r->notes)
        return fail_format(r, "the segments of notes are larger than 1 MiB");
    r->notes += size;
    data = malloc((size_t)size + 1);
    if (data == NULL)
        return cli_fail_memory();
    int code = read_at(r, offset, data, (size_t)size);
    if (code == CLI_OK)
        take_notes(elf, r, data, (size_t)size, align == 8 ? 8 : 4);
    free(data);
    return code;
}

/* ---- program headers ---- */

static int read_segment(struct cli_elf *elf, struct reader *r, const unsigned char *record)
{
    uint64_t type = get(r, record, &p_type), offset = get(r, record, &p_offset);
    uint64_t size = get(r, record, &p_filesz);

    if (type == SEGMENT_NOTE)
        return read_notes(elf, r, offset, size, get(r, record, &p_align));
    if (type != SEGMENT_LOAD || size == 0)
        return CLI_OK;
    const uint64_t address = get(r, record, &p_vaddr);
    if (size > UINT64_MAX - offset || size > UINT64_MAX - address)
        return fail_format(r, "the range of an ELF segment exceeds 64 bits");
    elf->segments[elf->segment_count++] = (struct cli_elf_segment){
        offset, size, address, (get(r, record, &p_flags) & EXECUTABLE) != 0};
    return CLI_OK;
}

static int read_segments(struct cli_elf *elf, struct reader *r, const unsigned char *header)
{
    size_t count = (size_t)get(r, header, &phnum), entry = (size_t)get(r, header, &phentsize);
    uint64_t offset = get(r, header, &phoff);
    int code = CLI_OK;

    if (count == 0)
        return fail_format(r, "no ELF program headers; a debug file needs its program");
    if (count > MOST_HEADERS)
        return fail_format(r, "more than 1024 ELF program headers");
    if (entry != (r->is_64 ? ENTRY_64 : ENTRY_32))
        return fail_format(r, "unknown size of ELF program headers");
    unsigned char *records = malloc(count * entry);
    elf->segments = calloc(count, sizeof *elf->segments);
    if (records == NULL || elf->segments == NULL)
        code = cli_fail_memory();
    if (code == CLI_OK)
        code = read_at(r, offset, records, count * entry);
    for (size_t i = 0; i < count && code == CLI_OK; i++)
        code = read_segment(elf, r, records + i * entry);
    free(records);
    return code;
}

static int read_file(struct cli_elf *elf, struct reader *r)
{
    unsigned char header[HEADER] = {0};
    struct stat status;

    if (fstat(r->fd, &status) != 0)
        return cli_fail(CLI_IO, "%s: cannot read: %s", r->path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return fail_format(r, "not a regular file");
    r->size = (uint64_t)status.st_size;
    if (r->size < HEADER)
        return fail_format(r, "not an ELF file");
    int code = read_at(r, 0, header, sizeof header);
    if (code != CLI_OK)
        return code;
    if (memcmp(header, "\177ELF", 4) != 0 || header[4] < 1 || header[4] > 2 || header[5] < 1 ||
        header[5] > 2)
        return fail_format(r, "not an ELF file");
    r->is_64 = header[4] == 2;
    r->is_big = header[5] == 2;
    uint64_t type = number(r, header + 16, 2);
    if (type != TYPE_EXECUTABLE && type != TYPE_SHARED)
        return fail_format(r, "not an executable or shared library");
    return read_segments(elf, r, header);
}

int cli_elf_open(struct cli_elf *elf, const char *path)
{
    struct reader r = {.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};

    memset(elf, 0, sizeof *elf);
    if (r.fd < 0)
        return cli_fail(CLI_IO, "%s: cannot open: %s", path, strerror(errno));
    int code = read_file(elf, &r);
    (void)close(r.fd);
    return code;
}

void cli_elf_close(struct cli_elf *elf)
{
    free(elf->segments);
    elf->segments = NULL;
}

static int find_address(const struct cli_elf *elf, uint64_t offset, int is_code, uint64_t *address)
{
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct cli_elf_segment *s = &elf->segments[i];
        if (s->is_code != is_code || offset < s->offset || offset - s->offset >= s->size)
            continue;
        *address = s->address + (offset - s->offset);
        return 1;
    }
    return 0;
}

int cli_elf_address(const struct cli_elf *elf, uint64_t offset, uint64_t *address)
{
    return find_address(elf, offset, 1, address) || find_address(elf, offset, 0, address);
}

int cli_elf_has_address(const struct cli_elf *elf, uint64_t address)
{
    for (size_t i = 0; i < elf->segment_count; i++)
        if (address >= elf->segments[i].address &&
            address - elf->segments[i].address < elf->segments[i].size)
            return 1;
    return 0;
}
