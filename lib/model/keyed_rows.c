/*
 * keyed_rows.c - members of a row with open keys (keyed_rows.h)
 *
 * Columns are read in batches of 256 rows; frames and names of a sample's own stack are cached in
 * direct-mapped tables. Tests: suite perun, tests/unit/test_row_values.c.
 */
#include "model/keyed_rows.h"

#include "util/alloc.h"
#include "util/hash.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROWS 256u /* rows per batch of a value column */

/* A column read in batches. */
struct batched_column {
    const struct pci_column *column;
    uint64_t first, count;
    int64_t values[ROWS];
    uint8_t valid[ROWS];
};

#define OWN_FRAMES 256u /* entries of each cache; a power of two */

/* Cached frame at a depth of a stack. */
struct own_frame {
    uint64_t stack; /* UINT64_MAX: empty */
    int64_t depth, group;
};

struct get_own_name {
    int64_t group; /* -1: empty */
    pcol_str name;
};

struct pci_keyed_state {
    struct pci_member *members;
    size_t capacity;
    struct batched_column **values; /* value.K of samples */
    size_t value_count;
    size_t last_value;   /* index of the last column with a value */
    int64_t whole[ROWS]; /* its batch as integers, in a run of a label of kind WHOLE */
    struct batched_column *stack, *parent,
        *group;                              /* of samples: stack of the row; of stacks: the tree */
    struct own_frame own_frames[OWN_FRAMES]; /* by hash of (stack, depth) */
    uint64_t stack_rows;
    struct get_own_name own_names[OWN_FRAMES]; /* by number of the group */
    struct pci_stacks tree;                    /* samples, location_groups: locations of a group */
    const struct pci_column *function, *filename, *line, *column; /* of locations */
    const struct pci_column *name, *function_file;                /* of functions */
    int frames;                                                   /* rows are frames */
};

/* ---- open */

static pcol_status open_values(struct pci_keyed_reader *k, pcol_error *err)
{
    struct pci_keyed_state *s = k->state;
    uint64_t types = pci_rows(k->file, "sample_types");
    const struct pci_table *samples = pci_table_find(k->file, "samples");
    if (!samples || types >= PCF_MAX_COLUMNS)
        return PCOL_OK;
    s->values = pci_calloc((size_t)types + 1, sizeof(struct batched_column *));
    if (!s->values)
        return pci_fail_memory(err);
    for (uint64_t i = 0; i < types; i++) {
        char name[32];
        const struct pci_column *column;
        snprintf(name, sizeof name, "value.%" PRIu64, i);
        PCI_TRY(pci_find_column(k->file, "samples", name, PCI_TYPE(PCF_I64) | PCI_TYPE(PCF_F64),
                                &column, err));
        if (!column)
            continue;
        struct batched_column *b;
        PCI_TRY(PCI_MALLOC(b, 1, err));
        b->column = column;
        b->first = b->count = 0;
        s->values[s->value_count++] = b;
    }
    return PCOL_OK;
}

static pcol_status open_batched_column(struct pci_keyed_reader *k, const char *table,
                                       const char *name, struct batched_column **out,
                                       pcol_error *err)
{
    const struct pci_column *column;
    PCI_TRY(pci_find_column(k->file, table, name, PCI_TYPES_ROW, &column, err));
    if (!column)
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(*out, 1, err));
    (*out)->column = column;
    (*out)->first = (*out)->count = 0;
    return PCOL_OK;
}

static pcol_status open_frames(struct pci_keyed_reader *k, pcol_error *err)
{
    struct pci_keyed_state *s = k->state;
    PCI_TRY(pci_stacks_open(k->file, &s->tree, err));
    PCI_TRY(pci_find_column(k->file, "locations", "function", PCI_TYPES_ROW, &s->function, err));
    PCI_TRY(pci_find_column(k->file, "locations", "filename", PCI_TYPES_TEXT, &s->filename, err));
    PCI_TRY(pci_find_column(k->file, "locations", "line", PCI_TYPES_INT, &s->line, err));
    PCI_TRY(pci_find_column(k->file, "locations", "column", PCI_TYPES_INT, &s->column, err));
    PCI_TRY(pci_find_column(k->file, "functions", "name", PCI_TYPES_TEXT, &s->name, err));
    return pci_find_column(k->file, "functions", "filename", PCI_TYPES_TEXT, &s->function_file,
                           err);
}

static pcol_status open_samples(struct pci_keyed_reader *k, pcol_error *err)
{
    struct pci_keyed_state *s = k->state;
    for (size_t i = 0; i < OWN_FRAMES; i++) {
        s->own_frames[i].stack = UINT64_MAX;
        s->own_names[i].group = -1;
    }
    s->stack_rows = pci_rows(k->file, "stacks");
    PCI_TRY(open_frames(k, err));
    PCI_TRY(open_batched_column(k, "samples", "stack", &s->stack, err));
    PCI_TRY(open_batched_column(k, "stacks", "parent", &s->parent, err));
    PCI_TRY(open_batched_column(k, "stacks", "group", &s->group, err));
    return open_values(k, err);
}

pcol_status pci_keyed_open(struct pci_keyed_reader *keyed, const pcol_file *file, const char *table,
                           pcol_error *err)
{
    memset(keyed, 0, sizeof *keyed);
    keyed->file = file;
    PCI_TRY(PCI_CALLOC(keyed->state, 1, err));
    PCI_TRY(pci_labels_open(&keyed->labels, file, table, err));
    PCI_TRY(pci_nodes_open(&keyed->nodes, file, err));
    if (!strcmp(table, "samples"))
        return open_samples(keyed, err);
    keyed->state->frames = !strcmp(table, "location_groups");
    return keyed->state->frames ? open_frames(keyed, err) : PCOL_OK;
}

void pci_keyed_close(struct pci_keyed_reader *keyed)
{
    struct pci_keyed_state *s = keyed->state;
    if (s) {
        for (size_t i = 0; i < s->value_count; i++)
            pci_free(s->values[i]);
        pci_free(s->values);
        pci_free(s->stack);
        pci_free(s->parent);
        pci_free(s->group);
        pci_free(s->members);
        pci_free(s);
        pci_labels_close(&keyed->labels);
    }
    memset(keyed, 0, sizeof *keyed);
}

/* ---- values that are stored elsewhere in the row */

static pcol_status read_batched_cell(const struct pci_keyed_reader *k, struct batched_column *b,
                                     uint64_t row, int64_t *value, int *valid, pcol_error *err)
{
    if (row - b->first >= b->count) {
        uint64_t rows = b->column->desc->rows, first = row - row % ROWS;
        uint64_t count = rows - first < ROWS ? rows - first : ROWS;
        b->count = 0;
        PCI_TRY(pci_read(k->file, b->column, first, count, b->values, b->valid, err));
        b->first = first;
        b->count = count;
    }
    *value = b->values[row - b->first];
    *valid = b->valid[row - b->first];
    return PCOL_OK;
}

/* The row's own stack, which a label refers to. */
static pcol_status get_own_stack(struct pci_keyed_reader *k, uint64_t row, int64_t *stack,
                                 pcol_error *err)
{
    int valid = 0;
    if (k->state->stack)
        PCI_TRY(read_batched_cell(k, k->state->stack, row, stack, &valid, err));
    if (valid && (uint64_t)*stack < k->state->stack_rows)
        return PCOL_OK;
    return pci_corrupt(err, "samples", "stack", row,
                       "a label refers to the stack of the row, but it has none");
}

pcol_status pci_keyed_own_frame(struct pci_keyed_reader *k, uint64_t row, int64_t depth,
                                int64_t *group, pcol_error *err)
{
    struct pci_keyed_state *s = k->state;
    int64_t node;
    int valid;
    PCI_TRY(get_own_stack(k, row, &node, err));
    struct own_frame *cached =
        &s->own_frames[pci_hash_pair((uint64_t)node, (uint64_t)depth) % OWN_FRAMES];
    if ((uint64_t)node == cached->stack && depth == cached->depth) {
        *group = cached->group;
        return PCOL_OK;
    }
    uint64_t start = (uint64_t)node;
    for (int64_t i = 0; i < depth && node; i++) {
        int64_t parent;
        PCI_TRY(pci_get(k->file, s->parent->column, (uint64_t)node, &parent, &valid, err));
        if (parent >= node || parent < 0)
            return pci_corrupt(err, "stacks", "parent", (uint64_t)node,
                               "a parent is after its child");
        node = parent;
    }
    if (!node || !s->group)
        return pci_corrupt(err, "samples", "stack", row,
                           "a label refers to a frame beyond the depth of the stack");
    PCI_TRY(pci_get(k->file, s->group->column, (uint64_t)node, group, &valid, err));
    *cached = (struct own_frame){start, depth, *group};
    return PCOL_OK;
}

/* Reads the sample's value: the first column with a value in this row, starting with that of the
 * previous row. */
static pcol_status get_sample_value(struct pci_keyed_reader *k, uint64_t row,
                                    struct pci_value *value, pcol_error *err)
{
    struct pci_keyed_state *s = k->state;
    for (size_t n = 0; n < s->value_count; n++) {
        size_t i = s->last_value + n;
        struct batched_column *b = s->values[i < s->value_count ? i : i - s->value_count];
        int64_t bits;
        int valid;
        PCI_TRY(read_batched_cell(k, b, row, &bits, &valid, err));
        if (!valid)
            continue;
        s->last_value = i < s->value_count ? i : i - s->value_count;
        value->kind = b->column->desc->type == PCF_F64 ? PCI_VALUE_DOUBLE : PCI_VALUE_INTEGER;
        memcpy(&value->as, &bits, sizeof bits);
        return PCOL_OK;
    }
    return pci_corrupt(err, "samples", NULL, row,
                       "a label refers to the value of the row, but it has none");
}

/* The integer that the bits of a double mean; 0: it is none of a label of kind WHOLE. */
static int to_integer(int64_t bits, int64_t *integer)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    if (!(fabs(number) <= 0x1p53))
        return 0;
    *integer = (int64_t)number;
    return number == (double)*integer;
}

static pcol_status get_whole_value(struct pci_keyed_reader *k, uint64_t row,
                                   struct pci_value *value, pcol_error *err)
{
    int64_t bits;
    PCI_TRY(get_sample_value(k, row, value, err));
    memcpy(&bits, &value->as, sizeof bits);
    if (value->kind != PCI_VALUE_DOUBLE || !to_integer(bits, &value->as.i64))
        return pci_corrupt(err, "samples", NULL, row,
                           "a label refers to the value of the row as a whole double: it is none");
    value->kind = PCI_VALUE_INTEGER;
    return PCOL_OK;
}

/* Length of the run of whole values from `at` on, which are put into `whole`. */
static size_t convert_run(struct pci_keyed_state *s, const struct batched_column *b, size_t at,
                          size_t most)
{
    size_t n = 0;
    while (n < most && b->valid[at + n] && to_integer(b->values[at + n], &s->whole[at + n]))
        n++;
    return n;
}

static pcol_status get_text_cell(const struct pci_keyed_reader *k, const struct pci_column *column,
                                 uint64_t row, struct pci_value *value, int *valid, pcol_error *err)
{
    *valid = 0;
    value->kind = PCI_VALUE_STRING;
    return pci_get_str(k->file, column, row, &value->as.text, valid, err);
}

/* Reads a part of a frame: name or file of its function, line or column. *valid is 0 if absent. */
static pcol_status get_frame_part(struct pci_keyed_reader *k, uint64_t row, int kind,
                                  struct pci_value *value, int *valid, pcol_error *err)
{
    struct pci_keyed_state *s = k->state;
    uint64_t first, count;
    int64_t function = 0;
    int has_function = 0;
    *valid = 0;
    PCI_TRY(pci_stacks_group(&s->tree, row, &first, &count, err));
    if (kind == PCI_LABEL_LINE || kind == PCI_LABEL_COLUMN) {
        const struct pci_column *c = kind == PCI_LABEL_LINE ? s->line : s->column;
        value->kind = PCI_VALUE_INTEGER;
        return pci_get(k->file, c, first, &value->as.i64, valid, err);
    }
    PCI_TRY(pci_get(k->file, s->function, first, &function, &has_function, err));
    if (has_function && (uint64_t)function >= pci_rows(k->file, "functions"))
        return pci_corrupt(err, "locations", "function", first,
                           "%" PRIi64 " names no row of functions", function);
    if (kind == PCI_LABEL_NAME)
        return has_function ? get_text_cell(k, s->name, (uint64_t)function, value, valid, err)
                            : PCOL_OK;
    return has_function ? get_text_cell(k, s->function_file, (uint64_t)function, value, valid, err)
                        : get_text_cell(k, s->filename, first, value, valid, err);
}

static pcol_status get_own_name(struct pci_keyed_reader *k, uint64_t row, int64_t depth,
                                struct pci_value *value, pcol_error *err)
{
    struct pci_keyed_state *s = k->state;
    int64_t group;
    int valid = 1;
    PCI_TRY(pci_keyed_own_frame(k, row, depth, &group, err));
    struct get_own_name *cached = &s->own_names[(uint64_t)group % OWN_FRAMES];
    if (group != cached->group) {
        cached->group = -1;
        PCI_TRY(get_frame_part(k, (uint64_t)group, PCI_LABEL_NAME, value, &valid, err));
        cached->name = value->as.text;
    }
    if (!valid)
        return pci_corrupt(err, "samples", "stack", row,
                           "a label refers to the function of a frame that has none");
    cached->group = group;
    value->kind = PCI_VALUE_STRING;
    value->as.text = cached->name;
    return PCOL_OK;
}

/* ---- rows */

static pcol_status append_member(struct pci_keyed_reader *k, struct pci_member **member,
                                 pcol_error *err)
{
    struct pci_keyed_state *s = k->state;
    if (k->count == s->capacity) {
        PCI_TRY(PCI_GROW(s->members, s->capacity, k->count + 1, err));
    }
    *member = &s->members[k->count++];
    return PCOL_OK;
}

static pcol_status get_label_value(struct pci_keyed_reader *k, uint64_t row,
                                   const struct pci_label_cell *cell, struct pci_value *value,
                                   pcol_error *err)
{
    static const uint8_t kinds[PCI_LABEL_KIND_COUNT] = {
        [PCI_LABEL_STRING] = PCI_VALUE_STRING,  [PCI_LABEL_INTEGER] = PCI_VALUE_INTEGER,
        [PCI_LABEL_DOUBLE] = PCI_VALUE_DOUBLE,  [PCI_LABEL_BIGINT] = PCI_VALUE_BIG,
        [PCI_LABEL_BOOL] = PCI_VALUE_BOOL,      [PCI_LABEL_NULL] = PCI_VALUE_NULL,
        [PCI_LABEL_EMPTY] = PCI_VALUE_NULL,     [PCI_LABEL_FRAME] = PCI_VALUE_FRAME,
        [PCI_LABEL_STACK] = PCI_VALUE_STACK,    [PCI_LABEL_RSTACK] = PCI_VALUE_RSTACK,
        [PCI_LABEL_OWNSTACK] = PCI_VALUE_STACK, [PCI_LABEL_OWNRSTACK] = PCI_VALUE_RSTACK,
        [PCI_LABEL_OWNFRAME] = PCI_VALUE_FRAME, [PCI_LABEL_OWNNAME] = PCI_VALUE_STRING,
    };
    int kind = cell->key->kind, valid;
    value->kind = kinds[kind];
    switch (kind) {
    case PCI_LABEL_STRING:
    case PCI_LABEL_BIGINT:
        value->as.text = cell->as.text;
        return PCOL_OK;
    case PCI_LABEL_VALUE:
        return get_sample_value(k, row, value, err);
    case PCI_LABEL_WHOLE:
        return get_whole_value(k, row, value, err);
    case PCI_LABEL_OWNSTACK:
    case PCI_LABEL_OWNRSTACK:
        return get_own_stack(k, row, &value->as.i64, err);
    case PCI_LABEL_OWNFRAME:
        return pci_keyed_own_frame(k, row, cell->as.i64, &value->as.i64, err);
    case PCI_LABEL_OWNNAME:
        return get_own_name(k, row, cell->as.i64, value, err);
    case PCI_LABEL_NAME:
    case PCI_LABEL_FILENAME:
    case PCI_LABEL_LINE:
    case PCI_LABEL_COLUMN:
        if (!k->state->frames)
            return pci_corrupt(err, "label_keys", "kind", cell->key->number,
                               "only frames have labels of this kind");
        PCI_TRY(get_frame_part(k, row, kind, value, &valid, err));
        if (valid)
            return PCOL_OK;
        return pci_corrupt(err, "location_groups", "label_shape", row,
                           "a label refers to a part that the frame does not have");
    default:
        memcpy(&value->as, &cell->as, sizeof(int64_t));
        return PCOL_OK;
    }
}

/* Members of a frame without labels, under the keys of Perun. */
static pcol_status add_frame_members(struct pci_keyed_reader *k, uint64_t row, pcol_error *err)
{
    static const struct {
        const char *key;
        int kind;
    } parts[] = {{"function", PCI_LABEL_NAME},
                 {"source", PCI_LABEL_FILENAME},
                 {"line", PCI_LABEL_LINE},
                 {"column", PCI_LABEL_COLUMN}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct pci_value value;
        struct pci_member *member;
        int valid;
        PCI_TRY(get_frame_part(k, row, parts[i].kind, &value, &valid, err));
        if (!valid)
            continue;
        PCI_TRY(append_member(k, &member, err));
        member->key = (pcol_str){parts[i].key, strlen(parts[i].key)};
        member->value = value;
    }
    return PCOL_OK;
}

pcol_status pci_keyed_row(struct pci_keyed_reader *keyed, uint64_t row, pcol_error *err)
{
    struct pci_keyed_reader *k = keyed;
    struct pci_label_reader *labels = &k->labels;
    PCI_TRY(pci_labels_row(labels, row, err));
    if (labels->same && labels->cell_count && k->count == labels->cell_count) {
        /* the members are the same, except for their values */
        for (size_t i = 0; i < labels->cell_count; i++)
            if (!labels->cells[i].key->unwanted)
                PCI_TRY(
                    get_label_value(k, row, &labels->cells[i], &k->state->members[i].value, err));
        return PCOL_OK;
    }
    k->count = 0;
    for (size_t i = 0; i < labels->cell_count; i++) {
        const struct pci_label_cell *cell = &labels->cells[i];
        struct pci_member *member;
        PCI_TRY(append_member(k, &member, err));
        if (cell->key) {
            member->key = cell->key->key;
            member->value = (struct pci_value){.kind = PCI_VALUE_NULL};
            if (!cell->key->unwanted)
                PCI_TRY(get_label_value(k, row, cell, &member->value, err));
        } else {
            struct pci_node_value node;
            PCI_TRY(pci_nodes_get(&k->nodes, cell->node, &node, err));
            member->key = node.key;
            PCI_TRY(pci_value_of_node(&node, &member->value, err));
        }
    }
    k->has_shape = labels->has_shape || labels->cell_count;
    if (!k->has_shape && k->state->frames)
        PCI_TRY(add_frame_members(k, row, err));
    k->members = k->state->members;
    return PCOL_OK;
}

/* ---- runs of rows */

static int is_in_batch(const struct batched_column *b, uint64_t row)
{
    return b && row - b->first < b->count;
}

/* Length of the run of one label, see pci_labels_run_length(). */
static size_t get_run_length(const struct pci_keyed_reader *k, int kind, uint64_t row, size_t most)
{
    struct pci_keyed_state *s = k->state;
    const struct batched_column *b = s->stack;
    if (kind == PCI_LABEL_VALUE || kind == PCI_LABEL_WHOLE)
        b = s->last_value < s->value_count ? s->values[s->last_value] : NULL;
    else if (kind != PCI_LABEL_OWNSTACK && kind != PCI_LABEL_OWNRSTACK &&
             kind != PCI_LABEL_OWNFRAME && kind != PCI_LABEL_OWNNAME)
        return most;
    if (!is_in_batch(b, row))
        return 1;
    size_t at = (size_t)(row - b->first), left = (size_t)b->count - at;
    most = most < left ? most : left;
    return kind == PCI_LABEL_VALUE   ? pci_run_of_valid(b->valid + at, most)
           : kind == PCI_LABEL_WHOLE ? convert_run(s, b, at, most)
                                     : pci_run_of_equal(b->values + at, b->valid + at, most);
}

size_t pci_keyed_run_length(const struct pci_keyed_reader *keyed, uint64_t row, size_t most)
{
    const struct pci_label_reader *labels = &keyed->labels;
    if (most < 2 || keyed->state->frames || keyed->count != labels->cell_count || !keyed->count)
        return 1;
    /* Labels that refer to the stack come first: they are cheap and usually end the run. */
    for (size_t i = 0; i < labels->cell_count && most > 1; i++) {
        const struct pci_label_key *key = labels->cells[i].key;
        if (!key)
            return 1;
        if (!key->unwanted)
            most = get_run_length(keyed, key->kind, row, most);
    }
    return most > 1 ? pci_labels_run_length(labels, row, most) : 1;
}

const int64_t *pci_keyed_run_values(const struct pci_keyed_reader *keyed, size_t member,
                                    uint64_t row)
{
    const struct pci_label_key *key = keyed->labels.cells[member].key;
    const struct pci_keyed_state *s = keyed->state;
    if (key->kind != PCI_LABEL_VALUE && key->kind != PCI_LABEL_WHOLE)
        return pci_labels_run_values(&keyed->labels, member, row);
    const struct batched_column *b =
        s->last_value < s->value_count ? s->values[s->last_value] : NULL;
    const int64_t *values = key->kind == PCI_LABEL_WHOLE ? s->whole : b ? b->values : NULL;
    return is_in_batch(b, row) ? values + (row - b->first) : NULL;
}
