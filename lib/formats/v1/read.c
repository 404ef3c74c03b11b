/*
 * read.c - import of the five tables of data model v1
 *
 * The tables may come in any order, so that references are resolved at the end: call stacks are
 * stored in a tree of location ids, samples in eight bytes each. Then functions, locations, stacks
 * and samples are added in this order; an unknown id is reported at its position.
 */
#include "formats/v1/rows.h"
#include "formats/v1/v1.h"

#include "builder/rows.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/hash.h"
#include "util/pair_set.h"

#include <inttypes.h>
#include <string.h>

/* A value of n means n samples. Beyond this total, a row remains one sample of value n, so that a
 * short text cannot become a large file. */
#define MAX_EXPANDED (UINT64_C(1) << 24)

/* Index of rows by id, which is the first member of the structs of a table. */
struct ids {
    void *rows;
    size_t count, capacity, row_size;
    struct pci_hash hash;
};

struct function {
    int64_t id;
    int64_t start_line;
    int64_t first_line; /* of its locations, INT64_MAX if none has any */
    uint32_t name, system_name, filename;
    uint32_t row; /* in the builder */
    struct pci_v1_position position;
};

struct location {
    int64_t id;
    int64_t function_id;
    int64_t line;
    uint32_t group; /* in the builder */
    struct pci_v1_position position, function_position;
};

/* A location id referenced by samples. */
struct used {
    int64_t id;
    struct pci_v1_position position; /* the first time */
    uint32_t group;
};

struct sample {
    uint32_t node, value;
};

struct v1 {
    struct pci_import *import;
    struct ids functions, locations, used;
    struct pci_pair_set nodes; /* parent and location of `used`; 0 is the empty stack */
    struct sample *samples;
    size_t sample_count, sample_capacity;
    uint64_t total;
    uint64_t empty; /* samples without locations */
};

/* ---- ids */

static void *find_id(const struct ids *ids, int64_t id, uint32_t *index)
{
    uint64_t hash = pci_hash_pair((uint64_t)id, 0);
    size_t at = pci_hash_start(&ids->hash, hash);
    while ((*index = pci_hash_next(&ids->hash, hash, &at)) != PCI_HASH_NONE) {
        char *row = (char *)ids->rows + *index * ids->row_size;
        int64_t other;
        memcpy(&other, row, sizeof other);
        if (other == id)
            return row;
    }
    return NULL;
}

/* Add a row for a new id; zero except for the id. */
static pcol_status add_id(struct ids *ids, int64_t id, void **row, pcol_error *err)
{
    *row = NULL;
    if (ids->count >= PCOL_NONE - 1) {
        pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 ids");
        return PCOL_E_LIMIT;
    }
    if (pci_grow(&ids->rows, &ids->capacity, ids->count + 1, ids->row_size))
        return pci_fail_memory(err);
    PCI_TRY(pci_hash_add(&ids->hash, pci_hash_pair((uint64_t)id, 0), (uint32_t)ids->count, err));
    *row = (char *)ids->rows + ids->count++ * ids->row_size;
    memset(*row, 0, ids->row_size);
    memcpy(*row, &id, sizeof id);
    return PCOL_OK;
}

/* ---- rows */

static pcol_status add_function_row(struct v1 *v, const struct pci_v1_row *row, pcol_error *err)
{
    void *added;
    uint32_t index;
    if (find_id(&v->functions, row->cell[0].integer, &index))
        return pci_v1_fail(row->cell[0].position, err,
                           "functions, row %" PRIu64 ": function_id %" PRId64 " is not unique",
                           row->number, row->cell[0].integer);
    PCI_TRY(add_id(&v->functions, row->cell[0].integer, &added, err));
    struct function *f = added;
    f->name = row->cell[1].string;
    f->system_name = row->cell[2].string;
    f->filename = row->cell[3].string;
    f->start_line = row->cell[4].integer;
    f->first_line = INT64_MAX;
    f->position = row->cell[0].position;
    return PCOL_OK;
}

static pcol_status add_location_row(struct v1 *v, const struct pci_v1_row *row, pcol_error *err)
{
    void *added;
    uint32_t index;
    if (find_id(&v->locations, row->cell[0].integer, &index))
        return pci_v1_fail(row->cell[0].position, err,
                           "locations, row %" PRIu64 ": location_id %" PRId64 " is not unique",
                           row->number, row->cell[0].integer);
    PCI_TRY(add_id(&v->locations, row->cell[0].integer, &added, err));
    struct location *l = added;
    l->function_id = row->cell[1].integer;
    l->line = row->cell[2].integer;
    l->position = row->cell[0].position;
    l->function_position = row->cell[1].position;
    return PCOL_OK;
}

static pcol_status add_sample_row(struct v1 *v, const struct pci_v1_row *row, pcol_error *err)
{
    uint32_t node = 0;
    int is_known;
    v->total += (uint64_t)row->cell[0].integer;
    for (size_t i = row->list_size; i-- > 0;) { /* from the root inwards */
        uint32_t index;
        void *used = find_id(&v->used, row->list[i], &index);
        if (!used) {
            index = (uint32_t)v->used.count;
            PCI_TRY(add_id(&v->used, row->list[i], &used, err));
            ((struct used *)used)->position = row->list_positions[i];
        }
        PCI_TRY(pci_pair_set_index(&v->nodes, node, index, &node, &is_known, err));
    }
    v->empty += !row->list_size;
    PCI_TRY(PCI_GROW(v->samples, v->sample_capacity, v->sample_count + 1, err));
    v->samples[v->sample_count++] = (struct sample){node, (uint32_t)row->cell[0].integer};
    return PCOL_OK;
}

static pcol_status handle_row(void *context, const struct pci_v1_row *row, pcol_error *err)
{
    struct v1 *v = context;
    if (row->table == PCI_V1_SAMPLES)
        return add_sample_row(v, row, err);
    return row->table == PCI_V1_LOCATIONS ? add_location_row(v, row, err)
                                          : add_function_row(v, row, err);
}

/* ---- adding to the builder */

/* An id is stored only if it differs from the row's number; rows equal except for their id remain
 * separate. */
static pcol_status add_function(struct v1 *v, struct function *f, size_t index, pcol_error *err)
{
    pcol_function function = {.size = sizeof function,
                              .name = f->name,
                              .system_name = f->system_name,
                              .filename = f->filename,
                              .start_line = f->start_line,
                              .id = (uint64_t)f->id};
    /* 0 means unknown, unless the export would derive it as the first line of the locations. */
    pci_set_flag(&function.flags, PCOL_FUNCTION_HAS_START_LINE,
                 f->start_line > 0 || (f->first_line && f->first_line != INT64_MAX));
    pci_set_flag(&function.flags, PCOL_FUNCTION_HAS_ID, f->id != (int64_t)index + 1);
    return pci_builder_function(v->import->builder, 1, &function, NULL, NULL, 0, &f->row, NULL,
                                err);
}

static pcol_status add_location(struct v1 *v, struct location *l, size_t index, pcol_error *err)
{
    uint32_t at;
    const struct function *f = find_id(&v->functions, l->function_id, &at);
    pcol_line line = {.function = f->row, .filename = PCOL_NONE, .line = l->line};
    pcol_group group = {.size = sizeof group,
                        .lines = &line,
                        .line_count = 1,
                        .mapping = PCOL_NONE,
                        .id = (uint64_t)l->id};
    pci_set_flag(&line.flags, PCOL_LINE_HAS_LINE, l->line > 0);
    pci_set_flag(&group.flags, PCOL_GROUP_HAS_ID, l->id != (int64_t)index + 1);
    return pci_builder_group(v->import->builder, 1, &group, NULL, NULL, 0, &l->group, NULL, err);
}

/* Report unknown ids, and compute the first line of each function. */
static pcol_status resolve(struct v1 *v, pcol_error *err)
{
    struct location *locations = v->locations.rows;
    struct used *used = v->used.rows;
    uint32_t index;
    for (size_t i = 0; i < v->locations.count; i++) {
        struct function *f = find_id(&v->functions, locations[i].function_id, &index);
        if (!f)
            return pci_v1_fail(locations[i].function_position, err,
                               "locations, row %zu: function_id %" PRId64 " names no function",
                               i + 1, locations[i].function_id);
        if (locations[i].line > 0 && locations[i].line < f->first_line)
            f->first_line = locations[i].line;
    }
    for (size_t i = 0; i < v->used.count; i++)
        if (!find_id(&v->locations, used[i].id, &index))
            return pci_v1_fail(used[i].position, err, "samples: %" PRId64 " names no location",
                               used[i].id);
    return PCOL_OK;
}

static pcol_status add_tables(struct v1 *v, pcol_error *err)
{
    struct function *f = v->functions.rows;
    struct location *l = v->locations.rows;
    struct used *used = v->used.rows;
    uint32_t index;
    for (size_t i = 0; i < v->functions.count; i++)
        PCI_TRY(add_function(v, &f[i], i, err));
    for (size_t i = 0; i < v->locations.count; i++)
        PCI_TRY(add_location(v, &l[i], i, err));
    for (size_t i = 0; i < v->used.count; i++)
        used[i].group = ((struct location *)find_id(&v->locations, used[i].id, &index))->group;
    return PCOL_OK;
}

static pcol_status add_samples(struct v1 *v, uint32_t type, pcol_error *err)
{
    pcol_builder *builder = v->import->builder;
    const struct used *used = v->used.rows;
    pcol_value value = {.sample_type = type, .as.i64 = 1};
    int expand = v->total <= MAX_EXPANDED;
    pcol_sample sample = {.size = sizeof sample,
                          .source = v->import->source,
                          .values = &value,
                          .value_count = 1,
                          .thread = PCOL_NONE};
    uint32_t *stacks;
    pcol_status status = PCOL_OK;
    PCI_TRY(PCI_MALLOC(stacks, v->nodes.count, err));
    stacks[0] = 0;
    for (size_t i = 1; status == PCOL_OK && i < v->nodes.count; i++)
        status = pcol_builder_stack(builder, stacks[v->nodes.pairs[i].first],
                                    used[v->nodes.pairs[i].second].group, &stacks[i], err);
    for (size_t i = 0; status == PCOL_OK && i < v->sample_count; i++) {
        sample.stack = stacks[v->samples[i].node];
        uint32_t rows = expand ? v->samples[i].value : 1;
        if (!expand)
            value.as.i64 = v->samples[i].value;
        for (uint32_t n = 0; status == PCOL_OK && n < rows; n++)
            status = pcol_builder_sample(builder, &sample, NULL, err);
    }
    pci_free(stacks);
    return status;
}

static pcol_status finish(struct v1 *v, pcol_error *err)
{
    pcol_source source = {.size = sizeof source};
    uint32_t type;
    PCI_TRY(resolve(v, err));
    PCI_TRY(pci_import_source(v->import, &source, err));
    PCI_TRY(pcol_builder_sample_type(v->import->builder, "samples", "count", 0, 0, &type, err));
    PCI_TRY(add_tables(v, err));
    pcol_status status = add_samples(v, type, err);
    if (status == PCOL_OK && v->total > MAX_EXPANDED && v->total > v->sample_count)
        pci_import_message("%" PRIu64 " samples stay %zu rows, each with its value: only up to "
                           "%" PRIu64 " become rows of their own",
                           v->total, v->sample_count, MAX_EXPANDED);
    if (status == PCOL_OK && v->empty)
        pci_import_message("%" PRIu64 " samples have no locations: v1 will not show them again",
                           v->empty);
    return status;
}

pcol_status pci_v1_read(struct pci_import *import, pcol_error *err)
{
    struct v1 v = {.import = import,
                   .functions.row_size = sizeof(struct function),
                   .locations.row_size = sizeof(struct location),
                   .used.row_size = sizeof(struct used)};
    struct pci_v1_rows rows = {.import = import, .handle_row = handle_row, .context = &v};
    int is_known;
    pcol_status status = pci_pair_set_add(&v.nodes, PCOL_NONE, PCOL_NONE, &is_known, err);
    PCI_THEN(status, pci_v1_rows_read(&rows, err));
    PCI_THEN(status, finish(&v, err));
    pci_free(v.functions.rows);
    pci_free(v.locations.rows);
    pci_free(v.used.rows);
    pci_hash_clear(&v.functions.hash);
    pci_hash_clear(&v.locations.hash);
    pci_hash_clear(&v.used.hash);
    pci_pair_set_clear(&v.nodes);
    pci_free(v.samples);
    return status;
}

/* ---- recognition */

/* Whether an array of samples begins as in profiles of V8, too. */
static int is_other_sample(const char *text, size_t size)
{
    static const char *const begins[] = {"{\"value\"", "{\"locations\"", "]"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (size >= strlen(begins[i]) && !memcmp(text, begins[i], strlen(begins[i])))
            return 0;
    return 1;
}

/* Recognised: an object whose first key is one of the five tables, with an array as value. */
int pci_v1_sniff(const uint8_t *data, size_t size, int all)
{
    static const char *const names[] = {"\"meta\"", "\"sample_types\"", "\"samples\"",
                                        "\"locations\"", "\"functions\""};
    char text[64];
    size_t used = 0;
    (void)all;
    if (size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3)) {
        data += 3;
        size -= 3;
    }
    for (size_t i = 0; i < size && used < sizeof text; i++)
        if (data[i] != ' ' && data[i] != '\t' && data[i] != '\r' && data[i] != '\n')
            text[used++] = (char)data[i];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i]);
        if (used >= length + 3 && text[0] == '{' && !memcmp(text + 1, names[i], length) &&
            !memcmp(text + 1 + length, ":[", 2))
            return strcmp(names[i], "\"samples\"") ||
                           !is_other_sample(text + length + 3, used - length - 3)
                       ? 2
                       : 0;
    }
    return 0;
}
