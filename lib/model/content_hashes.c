/*
 * content_hashes.c - hashes that identify functions, locations and call stacks (content_hashes.h)
 *
 * Each table is hashed in one pass in row order: a parent precedes its child, so the hash of a
 * stack takes one step of 32 bytes. Results are published under the file's lock: of two threads
 * that hash the same table one result is dropped.
 */
#include "model/content_hashes.h"

#include "model/check.h"
#include "model/frame_names.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Bits of struct location_bytes.flags. */
#define LOCATION_HAS_FUNCTION 1u
#define LOCATION_HAS_FILE 2u /* and no function */
#define LOCATION_HAS_START_LINE 4u
#define LOCATION_HAS_LINE 8u
#define LOCATION_HAS_COLUMN 16u
#define LOCATION_HAS_BINARY 32u
#define LOCATION_HAS_OFFSET 64u

/* Canonical bytes. */
struct function_bytes {
    pcol_hash name, system_name, filename;
};
struct binary_bytes {
    pcol_hash build_id, name;
};
struct location_bytes {
    uint64_t flags;
    pcol_hash code; /* of the function, or the filename */
    int64_t start_line, line, column;
    pcol_hash binary;
    uint64_t offset;
};
struct stack_bytes {
    pcol_hash parent, frame;
};
_Static_assert(sizeof(struct function_bytes) == 48 && sizeof(struct binary_bytes) == 32 &&
                   sizeof(struct location_bytes) == 72 && sizeof(struct stack_bytes) == 32,
               "canonical bytes have no padding");

/* Rows per batch of texts, which are on the stack. */
#define TEXTS 256u
#define HASH_DIGITS (2 * sizeof(pcol_hash))

static pcol_hash hash_bytes(const void *data, size_t size)
{
    XXH128_canonical_t canonical;
    pcol_hash hash;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, size));
    memcpy(hash.bytes, canonical.digest, sizeof hash.bytes);
    return hash;
}

static pcol_hash hash_text(pcol_str text)
{
    return hash_bytes(text.data, text.size);
}

/* ---- cells */

/* Reads a column in batches of ascending rows; an absent column is all null. */
struct cells {
    const pcol_file *file;
    const struct pci_column *column;
    uint64_t first;
    size_t count;
    int64_t values[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
};

static pcol_status get_cell(struct cells *cells, uint64_t row, int64_t *value, int *valid,
                            pcol_error *err)
{
    *value = 0;
    *valid = 0;
    if (!cells->column)
        return PCOL_OK;
    if (row - cells->first >= cells->count) {
        uint64_t rows = cells->column->desc->rows, first = row - row % PCI_BATCH;
        size_t count = rows - first < PCI_BATCH ? (size_t)(rows - first) : PCI_BATCH;
        cells->count = 0;
        PCI_TRY(
            pci_read(cells->file, cells->column, first, count, cells->values, cells->valid, err));
        cells->first = first;
        cells->count = count;
    }
    *value = cells->values[row - cells->first];
    *valid = cells->valid[row - cells->first];
    return PCOL_OK;
}

/* Texts of `count` rows, at most TEXTS; nulls and absent columns are empty. */
static pcol_status read_texts(const pcol_file *file, const struct pci_column *column, uint64_t row,
                              size_t count, pcol_str *texts, pcol_error *err)
{
    uint8_t valid[TEXTS] = {0};
    PCI_TRY(pci_work(count * PCI_ITEM_WORK, err));
    if (column)
        PCI_TRY(pci_read_str(file, column, row, count, texts, valid, err));
    for (size_t i = 0; i < count; i++)
        if (!valid[i])
            texts[i] = (pcol_str){"", 0};
    return PCOL_OK;
}

static pcol_status find_columns(const pcol_file *file, const struct pci_column_request *columns,
                                size_t count, pcol_error *err)
{
    for (size_t i = 0; i < count; i++)
        PCI_TRY(pci_check_row_count(file, columns[i].table, err));
    return pci_find_verified_columns(file, columns, count, err);
}

/* ---- functions */

static pcol_status hash_functions(const pcol_file *file, pcol_hash *hashes, uint64_t rows,
                                  pcol_error *err)
{
    const struct pci_column *name, *system, *filename;
    const struct pci_column_request columns[] = {
        {"functions", "name", PCI_TYPES_TEXT, &name},
        {"functions", "system_name", PCI_TYPES_TEXT, &system},
        {"functions", "filename", PCI_TYPES_TEXT, &filename},
    };
    pcol_str names[TEXTS], systems[TEXTS], files[TEXTS];
    PCI_TRY(find_columns(file, columns, sizeof columns / sizeof *columns, err));
    for (uint64_t row = 0; row < rows; row += TEXTS) {
        size_t n = rows - row < TEXTS ? (size_t)(rows - row) : TEXTS;
        PCI_TRY(read_texts(file, name, row, n, names, err));
        PCI_TRY(read_texts(file, system, row, n, systems, err));
        PCI_TRY(read_texts(file, filename, row, n, files, err));
        for (size_t i = 0; i < n; i++) {
            struct function_bytes bytes = {.name = hash_text(names[i]),
                                           .filename = hash_text(files[i])};
            bytes.system_name = systems[i].size ? hash_text(systems[i]) : bytes.name;
            hashes[row + i] = hash_bytes(&bytes, sizeof bytes);
        }
    }
    return PCOL_OK;
}

/* ---- locations */

enum shown { NAMELESS, NAMED, ADDRESS };

/* The parts of functions and mappings on which locations depend. */
struct function_part {
    int64_t start_line;
    uint8_t has_start_line, shown;
};
struct mapping_part {
    pcol_hash hash;
    uint64_t bias; /* file_offset - start */
};

enum { L_FUNCTION, L_FILE, L_LINE, L_COLUMN, G_FIRST, G_MAPPING, G_ADDRESS, CELL_COUNT };

struct location_walk {
    const pcol_file *file;
    const pcol_hash *functions;
    struct function_part *function_parts;
    struct mapping_part *mappings;
    uint64_t groups, locations;
    struct cells cells[CELL_COUNT];
};

static pcol_status read_function_parts(struct location_walk *w, pcol_error *err)
{
    const struct pci_column *name, *start_line;
    const struct pci_column_request columns[] = {
        {"functions", "name", PCI_TYPES_TEXT, &name},
        {"functions", "start_line", PCI_TYPES_INT, &start_line},
    };
    pcol_str names[TEXTS];
    int64_t starts[TEXTS];
    uint8_t has_start[TEXTS] = {0};
    uint64_t rows = pci_rows(w->file, "functions");
    PCI_TRY(find_columns(w->file, columns, sizeof columns / sizeof *columns, err));
    PCI_TRY(PCI_CALLOC(w->function_parts, (size_t)rows, err));
    for (uint64_t row = 0; row < rows; row += TEXTS) {
        size_t n = rows - row < TEXTS ? (size_t)(rows - row) : TEXTS;
        PCI_TRY(read_texts(w->file, name, row, n, names, err));
        if (start_line)
            PCI_TRY(pci_read(w->file, start_line, row, n, starts, has_start, err));
        for (size_t i = 0; i < n; i++) {
            struct function_part *part = &w->function_parts[row + i];
            part->has_start_line = has_start[i];
            part->start_line = has_start[i] ? starts[i] : 0;
            part->shown = !names[i].size                  ? NAMELESS
                          : pci_is_address_name(names[i]) ? ADDRESS
                                                          : NAMED;
        }
    }
    return PCOL_OK;
}

static pcol_status get_number(const pcol_file *file, const struct pci_column *column, uint64_t row,
                              uint64_t *number, pcol_error *err)
{
    int64_t value = 0;
    int valid = 0;
    PCI_TRY(pci_get(file, column, row, &value, &valid, err));
    *number = valid ? (uint64_t)value : 0;
    return PCOL_OK;
}

static pcol_status read_mapping_parts(struct location_walk *w, pcol_error *err)
{
    const struct pci_column *start, *offset, *filename, *build_id;
    const struct pci_column_request columns[] = {
        {"mappings", "start", PCI_TYPES_INT, &start},
        {"mappings", "file_offset", PCI_TYPES_INT, &offset},
        {"mappings", "filename", PCI_TYPES_TEXT, &filename},
        {"mappings", "build_id", PCI_TYPES_TEXT, &build_id},
    };
    uint64_t rows = pci_rows(w->file, "mappings");
    PCI_TRY(find_columns(w->file, columns, sizeof columns / sizeof *columns, err));
    PCI_TRY(PCI_CALLOC(w->mappings, (size_t)rows, err));
    for (uint64_t row = 0; row < rows; row++) {
        struct binary_bytes bytes;
        pcol_str path, id;
        uint64_t first, file_offset;
        PCI_TRY(read_texts(w->file, filename, row, 1, &path, err));
        PCI_TRY(read_texts(w->file, build_id, row, 1, &id, err));
        PCI_TRY(get_number(w->file, start, row, &first, err));
        PCI_TRY(get_number(w->file, offset, row, &file_offset, err));
        bytes.build_id = hash_text(id);
        bytes.name = hash_text(pci_frame_base_name(path));
        w->mappings[row].hash = hash_bytes(&bytes, sizeof bytes);
        w->mappings[row].bias = file_offset - first;
    }
    return PCOL_OK;
}

/* Code whose displayed name depends on its binary. */
static pcol_status add_binary(struct location_walk *w, uint64_t group, enum shown shown,
                              struct location_bytes *bytes, pcol_error *err)
{
    int64_t mapping, address;
    int has_mapping, has_address;
    PCI_TRY(get_cell(&w->cells[G_MAPPING], group, &mapping, &has_mapping, err));
    PCI_TRY(get_cell(&w->cells[G_ADDRESS], group, &address, &has_address, err));
    if (has_mapping) {
        bytes->flags |= LOCATION_HAS_BINARY;
        bytes->binary = w->mappings[mapping].hash;
    }
    if (shown == NAMELESS && has_address) {
        bytes->flags |= LOCATION_HAS_OFFSET;
        bytes->offset = (uint64_t)address + (has_mapping ? w->mappings[mapping].bias : 0);
    }
    return PCOL_OK;
}

static pcol_status hash_location(struct location_walk *w, uint64_t row, uint64_t group,
                                 pcol_hash *hash, pcol_error *err)
{
    struct location_bytes bytes = {0};
    enum shown shown = NAMELESS;
    int64_t function;
    int has_function, has_file = 0, has_line, has_column;
    pcol_str path = {"", 0};
    PCI_TRY(get_cell(&w->cells[L_FUNCTION], row, &function, &has_function, err));
    PCI_TRY(get_cell(&w->cells[L_LINE], row, &bytes.line, &has_line, err));
    PCI_TRY(get_cell(&w->cells[L_COLUMN], row, &bytes.column, &has_column, err));
    if (has_function) {
        const struct function_part *part = &w->function_parts[function];
        bytes.code = w->functions[function];
        bytes.start_line = part->start_line;
        shown = part->shown;
        bytes.flags |= part->has_start_line ? LOCATION_HAS_START_LINE : 0;
    } else if (w->cells[L_FILE].column) {
        PCI_TRY(pci_get_str(w->file, w->cells[L_FILE].column, row, &path, &has_file, err));
        if (has_file)
            bytes.code = hash_text(path);
    }
    bytes.flags |= (has_function ? LOCATION_HAS_FUNCTION : 0) | (has_file ? LOCATION_HAS_FILE : 0) |
                   (has_line ? LOCATION_HAS_LINE : 0) | (has_column ? LOCATION_HAS_COLUMN : 0);
    if (shown != NAMED) /* a line outside functions has neither a mapping nor an address */
        PCI_TRY(add_binary(w, group, shown, &bytes, err));
    *hash = hash_bytes(&bytes, sizeof bytes);
    return PCOL_OK;
}

/* The locations [*first, *end) of a group. */
static pcol_status get_lines(struct cells *cells, uint64_t group, uint64_t groups,
                             uint64_t locations, uint64_t *first, uint64_t *end, pcol_error *err)
{
    int64_t begin = (int64_t)group, next = (int64_t)group + 1;
    int valid;
    if (cells->column) {
        next = (int64_t)locations;
        PCI_TRY(get_cell(cells, group, &begin, &valid, err));
        if (group + 1 < groups)
            PCI_TRY(get_cell(cells, group + 1, &next, &valid, err));
    }
    if ((uint64_t)begin >= (uint64_t)next || (uint64_t)next > locations || (!group && begin))
        return pci_corrupt(err, "location_groups", "first_location", group,
                           "the lines of the groups do not follow one another");
    *first = (uint64_t)begin;
    *end = (uint64_t)next;
    return PCOL_OK;
}

static pcol_status walk_locations(struct location_walk *w, pcol_hash *hashes, pcol_error *err)
{
    const struct pci_column_request columns[CELL_COUNT] = {
        [L_FUNCTION] = {"locations", "function", PCI_TYPES_ROW, &w->cells[L_FUNCTION].column},
        [L_FILE] = {"locations", "filename", PCI_TYPES_TEXT, &w->cells[L_FILE].column},
        [L_LINE] = {"locations", "line", PCI_TYPES_INT, &w->cells[L_LINE].column},
        [L_COLUMN] = {"locations", "column", PCI_TYPES_INT, &w->cells[L_COLUMN].column},
        [G_FIRST] = {"location_groups", "first_location", PCI_TYPES_ROW, &w->cells[G_FIRST].column},
        [G_MAPPING] = {"location_groups", "mapping", PCI_TYPES_ROW, &w->cells[G_MAPPING].column},
        [G_ADDRESS] = {"location_groups", "address", PCI_TYPES_INT, &w->cells[G_ADDRESS].column},
    };
    uint64_t done = 0;
    PCI_TRY(find_columns(w->file, columns, CELL_COUNT, err));
    for (size_t i = 0; i < CELL_COUNT; i++)
        w->cells[i].file = w->file;
    PCI_TRY(read_function_parts(w, err));
    PCI_TRY(read_mapping_parts(w, err));
    for (uint64_t group = 0; group < w->groups; group++) {
        uint64_t row, end;
        PCI_TRY(get_lines(&w->cells[G_FIRST], group, w->groups, w->locations, &row, &end, err));
        for (; row < end; row++, done++)
            PCI_TRY(hash_location(w, row, group, &hashes[row], err));
    }
    if (done != w->locations)
        return pci_corrupt(err, "locations", NULL, done, "the location belongs to no group");
    return PCOL_OK;
}

static pcol_status hash_locations(const pcol_file *file, pcol_hash *hashes, uint64_t rows,
                                  pcol_error *err)
{
    struct location_walk *w;
    uint64_t functions;
    PCI_TRY(PCI_CALLOC(w, 1, err));
    w->file = file;
    w->locations = rows;
    w->groups = pci_rows(file, "location_groups");
    pcol_status status =
        pcol_file_hashes(file, PCOL_HASH_FUNCTIONS, NULL, &w->functions, &functions, err);
    PCI_THEN(status, walk_locations(w, hashes, err));
    pci_free(w->function_parts);
    pci_free(w->mappings);
    pci_free(w);
    return status;
}

/* ---- stacks */

struct stack_walk {
    const pcol_file *file;
    const pcol_hash *locations;
    pcol_hash *frames; /* by row of location_groups */
    struct cells parent, group, first;
};

static pcol_status hash_frames(struct stack_walk *w, uint64_t locations, pcol_error *err)
{
    uint64_t groups = pci_rows(w->file, "location_groups");
    PCI_TRY(PCI_MALLOC(w->frames, (size_t)groups, err));
    for (uint64_t group = 0; group < groups; group++) {
        uint64_t first, end;
        PCI_TRY(get_lines(&w->first, group, groups, locations, &first, &end, err));
        w->frames[group] =
            hash_bytes(&w->locations[first], (size_t)(end - first) * sizeof *w->locations);
    }
    return PCOL_OK;
}

static pcol_status walk_stacks(struct stack_walk *w, pcol_hash *hashes, uint64_t rows,
                               pcol_error *err)
{
    const struct pci_column_request columns[] = {
        {"stacks", "parent", PCI_TYPES_ROW, &w->parent.column},
        {"stacks", "group", PCI_TYPES_ROW, &w->group.column},
        {"location_groups", "first_location", PCI_TYPES_ROW, &w->first.column},
    };
    uint64_t locations;
    PCI_TRY(find_columns(w->file, columns, sizeof columns / sizeof *columns, err));
    w->parent.file = w->group.file = w->first.file = w->file;
    PCI_TRY(pcol_file_hashes(w->file, PCOL_HASH_LOCATIONS, NULL, &w->locations, &locations, err));
    PCI_TRY(hash_frames(w, locations, err));
    if (rows)
        memset(&hashes[0], 0, sizeof *hashes);
    for (uint64_t row = 1; row < rows; row++) {
        struct stack_bytes bytes;
        int64_t parent, group;
        int has_parent, has_group;
        PCI_TRY(get_cell(&w->parent, row, &parent, &has_parent, err));
        PCI_TRY(get_cell(&w->group, row, &group, &has_group, err));
        if (!has_parent || !has_group || (uint64_t)parent >= row)
            return pci_corrupt(err, "stacks", "parent", row, "the parent is not before its child");
        bytes.parent = hashes[parent];
        bytes.frame = w->frames[group];
        hashes[row] = hash_bytes(&bytes, sizeof bytes);
    }
    return PCOL_OK;
}

static pcol_status hash_stacks(const pcol_file *file, pcol_hash *hashes, uint64_t rows,
                               pcol_error *err)
{
    struct stack_walk *w;
    PCI_TRY(PCI_CALLOC(w, 1, err));
    w->file = file;
    pcol_status status = walk_stacks(w, hashes, rows, err);
    pci_free(w->frames);
    pci_free(w);
    return status;
}

/* ---- the cache */

void pci_hashes_free(struct pci_hashes *hashes)
{
    for (size_t i = 0; i < PCI_HASH_KINDS; i++) {
        pci_free(hashes->made[0][i]);
        pci_free(hashes->made[1][i]);
    }
}

/* The cached memory; `made` is stored, and owned by the cache, if there is none, and freed
 * otherwise. made NULL: only looks. */
static pcol_status exchange(const pcol_file *file, unsigned form, pcol_hash_kind kind, void *made,
                            const void **cached, pcol_error *err)
{
    pcol_file *writable = (pcol_file *)(uintptr_t)file; /* a cache: the same file for the caller */
    struct pci_models *models;
    pci_mutex_lock(&writable->lock);
    pcol_status status = pci_models_open(writable, &models, err);
    if (status == PCOL_OK) {
        void **slot = &models->hashes.made[form][kind];
        if (!*slot) {
            *slot = made;
            made = NULL;
        }
        *cached = *slot;
    }
    pci_mutex_unlock(&writable->lock);
    pci_free(made);
    return status;
}

static const struct {
    const char *table;
    pcol_status (*hash)(const pcol_file *file, pcol_hash *hashes, uint64_t rows, pcol_error *err);
} kinds[PCI_HASH_KINDS] = {
    {"functions", hash_functions}, {"locations", hash_locations}, {"stacks", hash_stacks}};

static pcol_status get_hashes(const pcol_file *file, pcol_hash_kind kind, const pcol_hash **hashes,
                              uint64_t *count, pcol_error *err)
{
    const void *cached;
    pcol_hash *made;
    uint64_t rows = pci_rows(file, kinds[kind].table);
    PCI_TRY(exchange(file, 0, kind, NULL, &cached, err));
    if (!cached) {
        PCI_TRY(pci_schema_verify(file, err));
        PCI_TRY(pci_check_row_count(file, kinds[kind].table, err));
        PCI_TRY(PCI_MALLOC(made, (size_t)rows, err));
        pcol_status status = kinds[kind].hash(file, made, rows, err);
        if (status != PCOL_OK) {
            pci_free(made);
            return status;
        }
        PCI_TRY(exchange(file, 0, kind, made, &cached, err));
    }
    *hashes = cached;
    *count = rows;
    return PCOL_OK;
}

pcol_status pcol_file_hashes(const pcol_file *file, pcol_hash_kind kind,
                             const pcol_control *control, const pcol_hash **hashes, uint64_t *count,
                             pcol_error *err)
{
    struct pci_control scope;
    pcol_status status;
    PCI_REQUIRE(hashes, err);
    *hashes = NULL;
    PCI_REQUIRE(count, err);
    *count = 0;
    PCI_REQUIRE(file, err);
    if ((unsigned)kind >= PCI_HASH_KINDS)
        return pci_fail(err, PCOL_E_ARGUMENT, "no such kind of hashes: %d", (int)kind);
    PCI_TRY(pci_control_init(&scope, control, "read", err));
    PCI_CONTROLLED(&scope, status, get_hashes(file, kind, hashes, count, err), err);
    return status;
}

/* ---- the column */

static pcol_status write_digits(const pcol_hash *hashes, uint64_t count, char *digits,
                                pcol_error *err)
{
    static const char hex[] = "0123456789abcdef";
    for (uint64_t row = 0; row < count; row++) {
        PCI_TRY(pci_work(HASH_DIGITS, err));
        for (size_t i = 0; i < sizeof *hashes; i++) {
            *digits++ = hex[hashes[row].bytes[i] >> 4];
            *digits++ = hex[hashes[row].bytes[i] & 15];
        }
    }
    return PCOL_OK;
}

static pcol_status get_digits(const pcol_file *file, pcol_hash_kind kind, const char **digits,
                              pcol_error *err)
{
    const pcol_hash *hashes;
    const void *cached;
    uint64_t count;
    char *made;
    PCI_TRY(exchange(file, 1, kind, NULL, &cached, err));
    if (!cached) {
        PCI_TRY(get_hashes(file, kind, &hashes, &count, err));
        PCI_TRY(PCI_MALLOC(made, (size_t)count * HASH_DIGITS, err));
        pcol_status status = write_digits(hashes, count, made, err);
        if (status != PCOL_OK) {
            pci_free(made);
            return status;
        }
        PCI_TRY(exchange(file, 1, kind, made, &cached, err));
    }
    *digits = cached;
    return PCOL_OK;
}

static pcol_status str_hash(const pcol_column *column, uint64_t row, size_t count, pcol_str *values,
                            uint8_t *valid, pcol_error *err)
{
    const pcol_hash_kind *kind = column->aux;
    const char *digits;
    PCI_TRY(get_digits(column->table->file, *kind, &digits, err));
    for (size_t i = 0; i < count; i++)
        values[i] = (pcol_str){digits + (row + i) * HASH_DIGITS, HASH_DIGITS};
    memset(valid, 1, count);
    return PCOL_OK;
}

void pci_table_add_hash(pcol_table *table, pcol_hash_kind kind)
{
    static const pcol_hash_kind each[PCI_HASH_KINDS] = {PCOL_HASH_FUNCTIONS, PCOL_HASH_LOCATIONS,
                                                        PCOL_HASH_STACKS};
    pcol_column *column = pci_table_add(table, ".hash", PCOL_STRING);
    column->str = str_hash;
    column->aux = &each[kind];
}
