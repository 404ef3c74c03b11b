/*
 * function_sums.c - self and total values of each function, by prefix sums over the call tree
 *
 * Answers the most frequent query without a walk over all stacks. Frames that are displayed with
 * the same name are one row (model/frame_names.h), which refers to the first of its locations. Rows
 * of the tree are in pre-order, so that the subtree of a row is a range, and its weight the
 * difference of two prefix sums. Recursion counts once: a row counts for a name only if it is not
 * in the subtree that was counted last for this name.
 * Tests: tests/unit/test_top.c, tests/oracle/query.
 */
#include "builder/builder.h"

#include "util/address_names.h"
#include "util/alloc.h"
#include "util/long_texts.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

/* No table for files that are small, for which it would not pay, or for many functions per
 * stack. */
#define MIN_STACKS 16384u
#define MIN_STACKS_PER_CELL 16u
#define MAX_LINES_PER_STACK 16u
#define LARGE_TREE (UINT32_C(1) << 18)

struct name {
    uint32_t covered;    /* end of the subtree that was counted last; 0: none */
    int64_t self, total; /* of the current sample type */
};

struct pci_function_sums {
    pcol_builder *b;
    const struct pci_column_buffer *stack; /* samples.stack */
    uint32_t *paths;                       /* string by mapping */
    struct binary *binaries;               /* by string, of paths */
    uint64_t mapping_count;
    uint64_t long_texts;         /* of the paths of all lines */
    int has_too_long;            /* they exceed the limit, so the table cannot be checked */
    struct pci_string_pool made; /* generated names that are no strings of the builder */
    uint32_t *name_of_made;      /* by code in `made` */
    char *text;                  /* buffer of the last generated name */
    size_t text_capacity, made_capacity, location_capacity;
    uint32_t row;            /* of locations, while lines are named */
    uint32_t *location;      /* by name: the lowest row of locations that shows it */
    uint32_t *name_of_code;  /* by string: 1 + name; 0: none */
    uint32_t *name_of_group; /* by group; SEVERAL: by its lines */
    uint32_t *name_of_line;  /* of groups with several lines */
    int nameless;            /* some group has no name at all */
    size_t count;            /* of names; the last one: samples without any name */
    uint8_t *shown;          /* by name: a row of the tree has it */
    uint32_t *end;  /* by row of the tree: end of its subtree; NULL: the table does not pay */
    uint32_t *leaf; /* by row: innermost name on the path; only if nameless */
    size_t *types;  /* sample types that are summed */
    const struct pci_column_buffer **values; /* by entry of types */
    uint8_t *good; /* by entry of types: no value is negative, and the sum does not overflow */
    size_t type_count;
    atomic_size_t next;    /* next entry of types to be summed */
    int64_t *self, *total; /* by entry of types and name */
};

/* State of one thread, for one sample type at a time. */
struct adder {
    struct pci_function_sums *w;
    struct name *names; /* by name */
    int64_t *before;    /* by row, and one more: weight, then the sum of all rows before it */
    struct pci_block_reader readers[2]; /* of stacks and of values */
};

#define SEVERAL (PCOL_NONE - 1)

/* Computed once for each path: many mappings may have one long path. */
struct binary {
    pcol_str text; /* last component of the path */
    int has_text;
    uint32_t name; /* of code without a function, + 1; 0: not numbered yet */
};

void pci_function_sums_free(struct pci_function_sums *w)
{
    if (!w)
        return;
    pci_free(w->paths);
    pci_free(w->binaries);
    pci_string_pool_clear(&w->made);
    pci_free(w->name_of_made);
    pci_free(w->text);
    pci_free(w->location);
    pci_free((void *)w->values);
    pci_free(w->name_of_code);
    pci_free(w->name_of_group);
    pci_free(w->name_of_line);
    pci_free(w->shown);
    pci_free(w->end);
    pci_free(w->leaf);
    pci_free(w->types);
    pci_free(w->good);
    pci_free(w->self);
    pci_free(w->total);
    pci_free(w);
}

/* ---- paths of mappings, before they are encoded */

static const struct pci_column_buffer *find_paths(const pcol_builder *b)
{
    for (size_t c = 0; c < b->column_count; c++)
        if (b->columns[c]->table == PCI_T_MAPPINGS && !strcmp(b->columns[c]->name, "filename"))
            return b->columns[c];
    return NULL;
}

static pcol_str last_component(pcol_str path)
{
    pcol_str text = path;
    size_t start;
    while (text.size && text.data[text.size - 1] == '/')
        text.size--;
    for (start = text.size; start && text.data[start - 1] != '/'; start--)
        ;
    return (pcol_str){text.data + start, text.size - start};
}

/* Codes of the paths of all mappings; PCOL_NONE: no path. */
static pcol_status read_paths(struct pci_function_sums *w, pcol_error *err)
{
    struct pci_column_buffer_source source;
    const struct pci_column_buffer *column = find_paths(w->b);
    struct pci_block_reader *r;
    pcol_status status;
    w->mapping_count = pci_builder_rows(w->b, PCI_T_MAPPINGS);
    PCI_TRY(PCI_CALLOC(w->binaries, w->b->strings.count, err));
    PCI_TRY(PCI_MALLOC(w->paths, (size_t)w->mapping_count + 1, err));
    memset(w->paths, 0xff, (size_t)w->mapping_count * sizeof *w->paths); /* PCOL_NONE */
    if (!column)
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(r, 1, err));
    pci_column_buffer_source_init(&source, column, NULL);
    pci_block_reader_init(r, &source.source);
    while ((status = pci_block_reader_next(r, err)) == PCOL_OK && r->n)
        for (size_t i = 0; i < r->n; i++)
            if (r->valid[i])
                w->paths[r->row + i] = (uint32_t)r->values[i];
    pci_free(r);
    return status;
}

/* The binary of a group's mapping; NULL without one. */
static struct binary *get_binary(struct pci_function_sums *w, const struct pci_group_record *group)
{
    uint32_t path = group->mapping < w->mapping_count ? w->paths[group->mapping] : PCOL_NONE;
    if (path == PCOL_NONE)
        return NULL;
    struct binary *binary = &w->binaries[path];
    if (!binary->has_text)
        binary->text = last_component(pci_string_pool_get(&w->b->strings, path));
    binary->has_text = 1;
    return binary->text.size ? binary : NULL;
}

/* ---- names of lines, as displayed (model/frame_names.h) */

/* Numbers a name that the current row of locations shows first. */
static pcol_status add_name(struct pci_function_sums *w, uint32_t *name, pcol_error *err)
{
    PCI_TRY(PCI_GROW(w->location, w->location_capacity, w->count + 2, err));
    w->location[w->count] = w->row;
    *name = (uint32_t)w->count++;
    return PCOL_OK;
}

static pcol_status name_string(struct pci_function_sums *w, uint32_t code, uint32_t *name,
                               pcol_error *err)
{
    uint32_t *known = &w->name_of_code[code];
    if (!*known) {
        PCI_TRY(add_name(w, known, err));
        ++*known;
    }
    *name = *known - 1;
    return PCOL_OK;
}

/* A generated name, which may also be that of a function. */
static pcol_status name_text(struct pci_function_sums *w, const char *before, pcol_str text,
                             const char *after, size_t after_size, uint32_t *name, pcol_error *err)
{
    size_t head = strlen(before), size = head + text.size + after_size;
    uint32_t code;
    PCI_TRY(PCI_GROW(w->text, w->text_capacity, size + 1, err));
    PCI_TRY(PCI_GROW(w->name_of_made, w->made_capacity, w->made.count + 1, err));
    memcpy(w->text, before, head);
    memcpy(w->text + head, text.data, text.size);
    memcpy(w->text + head + text.size, after, after_size);
    code = pci_string_pool_find(&w->b->strings, (pcol_str){w->text, size});
    if (code != PCOL_NONE)
        return name_string(w, code, name, err);
    size_t count = w->made.count;
    PCI_TRY(pci_string_pool_intern(&w->made, w->text, size, &code, err));
    if (code == count)
        PCI_TRY(add_name(w, &w->name_of_made[code], err));
    *name = w->name_of_made[code];
    return PCOL_OK;
}

/* Code without a named function: its binary, else its address. */
static pcol_status name_code(struct pci_function_sums *w, const struct pci_group_record *group,
                             uint32_t *name, pcol_error *err)
{
    char address[24] = "<unknown>";
    struct binary *binary = get_binary(w, group);
    if (!binary) {
        if (group->bits & 1)
            snprintf(address, sizeof address, "0x%" PRIx64, group->address);
        return name_text(w, address, (pcol_str){"", 0}, "", 0, name, err);
    }
    if (!binary->name) {
        int bracketed = binary->text.data[0] == '['; /* [kernel.kallsyms], [vdso] */
        PCI_TRY(name_text(w, bracketed ? "" : "[", binary->text, "]", !bracketed, name, err));
        binary->name = *name + 1;
    }
    *name = binary->name - 1;
    return PCOL_OK;
}

/* Counts at least what readers of the names count (struct pci_frame_namer). */
static void count_texts(struct pci_function_sums *w, const struct pci_group_record *group,
                        const pcol_line *line)
{
    uint32_t path = group->mapping < w->mapping_count ? w->paths[group->mapping] : PCOL_NONE;
    uint32_t codes[] = {path, path, line ? line->filename : PCOL_NONE};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] != PCOL_NONE)
            w->has_too_long |= !pci_long_text_allowed(
                &w->long_texts, pci_string_pool_get(&w->b->strings, codes[i]).size);
}

/* line: NULL in a group without lines. *name = PCOL_NONE: a line of a file outside functions. */
static pcol_status name_line(struct pci_function_sums *w, const struct pci_group_record *group,
                             const pcol_line *line, uint32_t *name, pcol_error *err)
{
    const pcol_builder *b = w->b;
    pcol_str text = {"", 0};
    uint32_t code = PCOL_NONE;
    *name = PCOL_NONE;
    count_texts(w, group, line);
    if (line && line->function != PCOL_NONE) {
        code = b->functions[line->function].name;
        if (code != PCOL_NONE)
            text = pci_string_pool_get(&b->strings, code);
    } else if (line && line->filename != PCOL_NONE && !(group->bits & 1) &&
               group->mapping == PCOL_NONE) {
        return PCOL_OK;
    }
    if (!text.size)
        return name_code(w, group, name, err);
    if (pci_is_address_name(text)) {
        const struct binary *library = get_binary(w, group);
        if (library && library->text.size <= PCI_MAX_LIBRARY_SIZE) {
            char address[PCI_MAX_ADDRESS_SIZE + 2];
            int size = snprintf(address, sizeof address, "+%.*s", (int)text.size, text.data);
            return name_text(w, "", library->text, address, (size_t)size, name, err);
        }
    }
    return name_string(w, code, name, err);
}

/* The innermost name of a group, whose first line is the innermost; PCOL_NONE: none. */
static uint32_t innermost_name(const struct pci_function_sums *w, size_t number)
{
    const struct pci_group_record *group = &w->b->groups[number];
    uint32_t name = w->name_of_group[number];
    if (name != SEVERAL)
        return name;
    name = PCOL_NONE;
    for (uint32_t l = 0; l < group->line_count && name == PCOL_NONE; l++)
        name = w->name_of_line[group->first_line + l];
    return name;
}

static pcol_status name_group(struct pci_function_sums *w, size_t number, pcol_error *err)
{
    const struct pci_group_record *group = &w->b->groups[number];
    const pcol_line *lines = w->b->lines + group->first_line;
    uint32_t *names = w->name_of_line + group->first_line;
    if (group->line_count < 2) {
        PCI_TRY(
            name_line(w, group, group->line_count ? lines : NULL, &w->name_of_group[number], err));
        w->row++;
    } else {
        w->name_of_group[number] = SEVERAL;
        for (uint32_t l = 0; l < group->line_count; l++, w->row++)
            PCI_TRY(name_line(w, group, &lines[l], &names[l], err));
    }
    w->nameless |= innermost_name(w, number) == PCOL_NONE;
    return PCOL_OK;
}

/* Whether there are few names for the number of stacks, and all can be read again. */
static int is_small(const struct pci_function_sums *w)
{
    return w->count <= w->b->tree.count / MIN_STACKS_PER_CELL / w->type_count && !w->has_too_long;
}

/* Ends early if the names are too many or too long. */
static pcol_status name_lines(struct pci_function_sums *w, pcol_error *err)
{
    const pcol_builder *b = w->b;
    PCI_TRY(PCI_CALLOC(w->name_of_code, b->strings.count, err));
    PCI_TRY(PCI_MALLOC(w->name_of_group, b->group_count, err));
    PCI_TRY(PCI_MALLOC(w->name_of_line, b->line_count, err));
    for (size_t g = 0; g < b->group_count && is_small(w); g++)
        PCI_TRY(name_group(w, g, err));
    return PCOL_OK;
}

/* ---- rows of the tree */

/* A row's subtree ends where that of its last child does. */
static void find_ends(struct pci_function_sums *w)
{
    const struct pci_call_tree *tree = &w->b->tree;
    for (size_t row = 0; row < tree->count; row++)
        w->end[row] = (uint32_t)row + 1;
    for (size_t row = tree->count; row-- > 1;) {
        uint32_t *end = &w->end[tree->parents[row]];
        *end = *end < w->end[row] ? w->end[row] : *end;
    }
}

static void find_leaves(struct pci_function_sums *w)
{
    const struct pci_call_tree *tree = &w->b->tree;
    w->leaf[0] = PCOL_NONE;
    for (size_t row = 1; row < tree->count; row++) {
        uint32_t name = innermost_name(w, tree->groups[row]);
        w->leaf[row] = name == PCOL_NONE ? w->leaf[tree->parents[row]] : name;
    }
}

static inline uint32_t leaf_of(const struct pci_function_sums *w, size_t row)
{
    if (w->leaf)
        return w->leaf[row];
    return row ? innermost_name(w, w->b->tree.groups[row]) : PCOL_NONE;
}

/* ---- adding up */

/* Add up the weight of each row for one type. The type is omitted (not good) if a value is
 * negative, since queries also show magnitudes of samples, or if the sum of all overflows. */
static pcol_status sum_rows(struct adder *a, size_t type, pcol_error *err)
{
    const struct pci_function_sums *w = a->w;
    struct pci_block_reader *stacks = &a->readers[0], *values = &a->readers[1];
    struct pci_column_buffer_source of_stacks, of_values;
    int64_t total = 0;
    pcol_status status;
    pci_column_buffer_source_init(&of_stacks, w->stack, w->b->tree.preorder);
    pci_block_reader_init(stacks, &of_stacks.source);
    pci_column_buffer_source_init(&of_values, w->values[type], NULL);
    pci_block_reader_init(values, &of_values.source);
    while ((status = pci_block_reader_next(stacks, err)) == PCOL_OK && stacks->n) {
        PCI_TRY(pci_block_reader_next(values, err));
        for (size_t i = 0; i < stacks->n; i++) {
            int64_t value = values->values[i];
            if (!stacks->valid[i] || !values->valid[i])
                continue;
            if (value < 0 || __builtin_add_overflow(total, value, &total))
                return PCOL_OK;
            a->before[stacks->values[i]] += value;
        }
    }
    w->good[type] = status == PCOL_OK;
    return status;
}

/* Sum the weights by leaf name, and replace them by their exclusive prefix sums. */
static void add_self(struct adder *a)
{
    const struct pci_function_sums *w = a->w;
    struct name *none = &a->names[w->count - 1];
    int64_t sum = 0;
    for (size_t row = 0; row <= w->b->tree.count; row++) {
        int64_t weight = a->before[row];
        a->before[row] = sum;
        if (!weight)
            continue;
        uint32_t leaf = leaf_of(w, row);
        (leaf == PCOL_NONE ? none : &a->names[leaf])->self += weight;
        sum += weight;
    }
}

/* Count a row for a name: its subtree is added to the total unless the row is in one that was. */
static inline void count_row(struct adder *a, size_t row, uint32_t name)
{
    struct name *n = &a->names[name];
    uint32_t end = a->w->end[row];
    if (row < n->covered)
        return;
    n->covered = end;
    n->total += a->before[end] - a->before[row];
}

static void add_total(struct adder *a)
{
    const struct pci_function_sums *w = a->w;
    const struct pci_call_tree *tree = &w->b->tree;
    struct name *none = &a->names[w->count - 1];
    for (size_t row = 1; row < tree->count; row++) {
        uint32_t name = w->name_of_group[tree->groups[row]];
        if (name < SEVERAL) {
            count_row(a, row, name);
        } else if (name == SEVERAL) {
            const struct pci_group_record *g = &w->b->groups[tree->groups[row]];
            for (uint32_t l = 0; l < g->line_count; l++)
                if (w->name_of_line[g->first_line + l] != PCOL_NONE)
                    count_row(a, row, w->name_of_line[g->first_line + l]);
        }
    }
    none->total = none->self;
}

static pcol_status sum_type(struct adder *a, size_t type, pcol_error *err)
{
    struct pci_function_sums *w = a->w;
    size_t rows = w->b->tree.count + 1;
    memset(a->before, 0, rows * sizeof *a->before);
    memset(a->names, 0, w->count * sizeof *a->names);
    PCI_TRY(sum_rows(a, type, err));
    if (!w->good[type]) /* only to find out which names have rows */
        memset(a->before, 0, rows * sizeof *a->before);
    add_self(a);
    add_total(a);
    for (size_t i = 0; i < w->count; i++) {
        w->self[type * w->count + i] = a->names[i].self;
        w->total[type * w->count + i] = a->names[i].total;
    }
    return PCOL_OK;
}

/* A large tree with one or two types has one lane: the memory of a second one would be the peak of
 * packing. */
static size_t lane_count(const struct pci_function_sums *w)
{
    return w->type_count > 2 || w->b->tree.count < LARGE_TREE ? PCI_SUM_LANES : 1;
}

pcol_status pci_function_sums_add(struct pci_function_sums *w, size_t lane, pcol_error *err)
{
    if (!w->end || lane >= w->type_count || lane >= lane_count(w))
        return PCOL_OK;
    struct adder *a;
    size_t t;
    PCI_TRY(PCI_MALLOC(a, 1, err));
    a->w = w;
    a->names = pci_malloc(w->count, sizeof *a->names);
    a->before = pci_malloc(w->b->tree.count + 1, sizeof *a->before);
    pcol_status status = a->names && a->before ? PCOL_OK : pci_fail_memory(err);
    if (lane == 0 && status == PCOL_OK) /* always, as this lane fills w->shown */
        status = sum_type(a, 0, err);
    while (status == PCOL_OK && (t = atomic_fetch_add(&w->next, 1)) < w->type_count)
        status = sum_type(a, t, err);
    for (size_t i = 0; lane == 0 && i < w->count && status == PCOL_OK; i++)
        w->shown[i] = a->names[i].covered != 0;
    pci_free(a->names);
    pci_free(a->before);
    pci_free(a);
    return status;
}

/* ---- construction */

static pcol_status find_types(struct pci_function_sums *w, pcol_error *err)
{
    pcol_builder *b = w->b;
    PCI_TRY(PCI_MALLOC(w->types, b->type_count, err));
    PCI_TRY(PCI_CALLOC(w->good, b->type_count, err));
    PCI_TRY(PCI_MALLOC(w->values, b->type_count, err));
    for (size_t k = 0; k < b->type_count; k++) {
        if (b->types[k].flags & (PCOL_SAMPLE_TYPE_GAUGE | PCOL_SAMPLE_TYPE_DOUBLE))
            continue;
        w->values[w->type_count] = b->columns[b->types[k].column];
        w->types[w->type_count++] = k;
    }
    return PCOL_OK;
}

pcol_status pci_function_sums_new(pcol_builder *b, struct pci_function_sums **sums, pcol_error *err)
{
    const struct pci_column_buffer *paths = find_paths(b);
    *sums = NULL;
    if (b->tree.count < MIN_STACKS || !b->columns[PCI_C_SAMPLE_STACK]->present)
        return PCOL_OK;
    if (paths &&
        paths->type !=
            PCF_STRING) /* a copied file may have bytes, which are not strings of the builder */
        return PCOL_OK;
    struct pci_function_sums *w;
    PCI_TRY(PCI_CALLOC(w, 1, err));
    w->b = b;
    atomic_init(&w->next, 1); /* the first lane starts with type 0 */
    w->stack = b->columns[PCI_C_SAMPLE_STACK];
    pcol_status status = find_types(w, err);
    if (status == PCOL_OK && w->type_count)
        status = read_paths(w, err);
    if (status == PCOL_OK && w->type_count) {
        *sums = w;
        return PCOL_OK;
    }
    pci_function_sums_free(w);
    return status;
}

/* Whether the table is small compared to the stacks, and so is the number of lines to visit, as a
 * group may have any number of them. */
static int is_worthwhile(const struct pci_function_sums *w)
{
    const struct pci_call_tree *tree = &w->b->tree;
    uint64_t lines = 0;
    if (!is_small(w))
        return 0;
    for (size_t row = 1; row < tree->count; row++)
        if (w->name_of_group[tree->groups[row]] == SEVERAL)
            lines += w->b->groups[tree->groups[row]].line_count;
    return lines / MAX_LINES_PER_STACK < tree->count;
}

pcol_status pci_function_sums_begin(struct pci_function_sums *w, pcol_error *err)
{
    size_t rows = w->b->tree.count;
    PCI_TRY(name_lines(w, err));
    if (!is_worthwhile(w))
        return PCOL_OK;
    w->count++; /* samples without any name */
    if (w->nameless)
        w->leaf = pci_malloc(rows, sizeof *w->leaf);
    w->shown = pci_malloc(w->count, 1);
    w->self = pci_malloc(w->type_count * w->count, sizeof *w->self);
    w->total = pci_malloc(w->type_count * w->count, sizeof *w->total);
    uint32_t *end = pci_malloc(rows, sizeof *end);
    w->end = end; /* released with the rest on failure */
    if (!end || (w->nameless && !w->leaf) || !w->shown || !w->self || !w->total)
        return pci_fail_memory(err);
    find_ends(w);
    if (w->leaf)
        find_leaves(w);
    return PCOL_OK;
}

/* ---- columns */

/* Append rows in the order of their locations, which is that of names; samples without a name come
 * last, if their sum is not 0. Fills *rows entries of name_of_row. */
static pcol_status append_locations(struct pci_function_sums *w, uint32_t *name_of_row,
                                    uint64_t *rows, pcol_error *err)
{
    pcol_builder *b = w->b;
    uint32_t column, none = (uint32_t)w->count - 1;
    PCI_TRY(pci_column_buffer_new(b, PCI_T_FUNCTION_SUMS, "location", PCF_U32, PCI_T_LOCATIONS + 1,
                                  PCI_DROP_NEVER, &column, err));
    *rows = 0;
    for (uint32_t name = 0; name < none; name++) {
        if (!w->shown[name])
            continue;
        PCI_TRY(pci_column_buffer_set(b->columns[column], *rows, w->location[name], err));
        name_of_row[(*rows)++] = name;
    }
    for (size_t t = 0; t < w->type_count; t++)
        if (w->good[t] && w->self[t * w->count + none]) {
            name_of_row[(*rows)++] = none;
            break;
        }
    return pci_column_buffer_fill(b->columns[column], *rows, err);
}

static pcol_status append_sums(struct pci_function_sums *w, const char *prefix, size_t type,
                               const int64_t *sums, const uint32_t *name_of_row, uint64_t rows,
                               pcol_error *err)
{
    uint32_t column;
    char name[32];
    snprintf(name, sizeof name, "%s.%zu", prefix, w->types[type]);
    PCI_TRY(pci_column_buffer_new(w->b, PCI_T_FUNCTION_SUMS, name, PCF_I64, 0, PCI_DROP_NEVER,
                                  &column, err));
    for (uint64_t row = 0; row < rows; row++)
        PCI_TRY(pci_column_buffer_set(w->b->columns[column], row, sums[name_of_row[row]], err));
    return PCOL_OK;
}

pcol_status pci_function_sums_finish(struct pci_function_sums *w, pcol_error *err)
{
    if (!w || !w->end || !memchr(w->good, 1, w->type_count))
        return PCOL_OK;
    uint32_t *name_of_row = pci_malloc(w->count, sizeof *name_of_row);
    pcol_status status = name_of_row ? PCOL_OK : pci_fail_memory(err);
    uint64_t rows = 0;
    PCI_THEN(status, append_locations(w, name_of_row, &rows, err));
    for (size_t t = 0; t < w->type_count && status == PCOL_OK; t++) {
        if (!w->good[t])
            continue;
        status = append_sums(w, "self", t, w->self + t * w->count, name_of_row, rows, err);
        PCI_THEN(status,
                 append_sums(w, "total", t, w->total + t * w->count, name_of_row, rows, err));
    }
    pci_free(name_of_row);
    return status;
}
