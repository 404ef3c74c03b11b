/*
 * function_sums.c - self and total values of each function, by prefix sums over the call tree
 *
 * Answers the most frequent query without a walk over all stacks. Functions with equal names are
 * one row; code without a function is named after its binary. Rows of the tree are in pre-order, so
 * that the subtree of a row is a range, and its weight the difference of two prefix sums. Recursion
 * counts once: a row counts for a name only if it is not in the subtree that was counted last for
 * this name. Tests: tests/unit/test_top.c, tests/oracle/query.
 */
#include "builder/builder.h"

#include "util/alloc.h"

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
    uint32_t *binary_names; /* string by mapping; the last one: code without a mapping */
    uint64_t binary_count;
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

void pci_function_sums_free(struct pci_function_sums *w)
{
    if (!w)
        return;
    pci_free(w->binary_names);
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

/* ---- names of binaries, before strings are sorted */

/* "[NAME]" of the last component of a path; "<unknown>" if it is empty. */
static pcol_status name_binary(pcol_builder *b, uint32_t path, uint32_t *code, pcol_error *err)
{
    pcol_str text = path == PCOL_NONE ? (pcol_str){"", 0} : pci_string_pool_get(&b->strings, path);
    size_t start;
    while (text.size && text.data[text.size - 1] == '/')
        text.size--;
    for (start = text.size; start && text.data[start - 1] != '/'; start--)
        ;
    if (start == text.size)
        return pci_string_pool_intern(&b->strings, "<unknown>", 9, code, err);
    size_t size = text.size - start + 2;
    char *name = pci_malloc(size, 1);
    if (!name)
        return pci_fail_memory(err);
    name[0] = '[';
    memcpy(name + 1, text.data + start, size - 2);
    name[size - 1] = ']';
    pcol_status status = pci_string_pool_intern(&b->strings, name, size, code, err);
    pci_free(name);
    return status;
}

static int has_name(const pcol_builder *b, uint32_t function)
{
    uint32_t name = b->functions[function].name;
    return name != PCOL_NONE && pci_string_pool_get(&b->strings, name).size > 0;
}

/* Whether a line is named after its binary. NULL: the line of a group without lines. */
static int is_named_by_binary(const pcol_builder *b, const pcol_line *line)
{
    if (line && line->function != PCOL_NONE)
        return !has_name(b, line->function);
    return !line || line->filename == PCOL_NONE;
}

static int has_line_named_by_binary(const pcol_builder *b, const struct pci_group_record *group)
{
    for (uint32_t l = 0; l < group->line_count; l++)
        if (is_named_by_binary(b, &b->lines[group->first_line + l]))
            return 1;
    return !group->line_count;
}

static const struct pci_column_buffer *find_paths(const pcol_builder *b)
{
    for (size_t c = 0; c < b->column_count; c++)
        if (b->columns[c]->table == PCI_T_MAPPINGS && !strcmp(b->columns[c]->name, "filename"))
            return b->columns[c];
    return NULL;
}

/* Strings of the paths of all mappings. */
static pcol_status read_paths(pcol_builder *b, uint32_t *paths, uint64_t count, pcol_error *err)
{
    struct pci_column_buffer_source source;
    const struct pci_column_buffer *column = find_paths(b);
    struct pci_block_reader *r;
    pcol_status status;
    memset(paths, 0xff, (size_t)count * sizeof *paths); /* PCOL_NONE */
    if (!column)
        return PCOL_OK;
    r = pci_malloc(1, sizeof *r);
    if (!r)
        return pci_fail_memory(err);
    pci_column_buffer_source_init(&source, column, NULL);
    pci_block_reader_init(r, &source.source);
    while ((status = pci_block_reader_next(r, err)) == PCOL_OK && r->n)
        for (size_t i = 0; i < r->n; i++)
            if (r->valid[i])
                paths[r->row + i] = (uint32_t)r->values[i];
    pci_free(r);
    return status;
}

static uint64_t binary_of(const struct pci_function_sums *w, const struct pci_group_record *group)
{
    return group->mapping < w->binary_count ? group->mapping : w->binary_count;
}

static pcol_status name_binaries(struct pci_function_sums *w, pcol_error *err)
{
    pcol_builder *b = w->b;
    uint64_t count = w->binary_count = pci_builder_rows(b, PCI_T_MAPPINGS);
    uint32_t *names = w->binary_names = pci_malloc((size_t)count + 1, sizeof *names);
    uint32_t *paths = pci_malloc((size_t)count + 1, sizeof *paths);
    pcol_status status = names && paths ? read_paths(b, paths, count, err) : pci_fail_memory(err);
    if (status == PCOL_OK)
        memset(names, 0xff, ((size_t)count + 1) * sizeof *names); /* PCOL_NONE */
    for (size_t g = 0; g < b->group_count && status == PCOL_OK; g++) {
        uint64_t binary = binary_of(w, &b->groups[g]);
        if (names[binary] == PCOL_NONE && has_line_named_by_binary(b, &b->groups[g]))
            status =
                name_binary(b, binary < count ? paths[binary] : PCOL_NONE, &names[binary], err);
    }
    pci_free(paths);
    return status;
}

/* ---- names of lines */

static uint32_t name_of_string(struct pci_function_sums *w, uint32_t code)
{
    uint32_t *known = &w->name_of_code[code];
    if (!*known)
        *known = (uint32_t)++w->count;
    return *known - 1;
}

static uint32_t name_of(struct pci_function_sums *w, const struct pci_group_record *group,
                        const pcol_line *line)
{
    const pcol_builder *b = w->b;
    if (is_named_by_binary(b, line))
        return name_of_string(w, w->binary_names[binary_of(w, group)]);
    if (line->function == PCOL_NONE)
        return PCOL_NONE;
    return name_of_string(w, b->functions[line->function].name);
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

static void name_group(struct pci_function_sums *w, size_t number)
{
    const struct pci_group_record *group = &w->b->groups[number];
    const pcol_line *lines = w->b->lines + group->first_line;
    uint32_t *names = w->name_of_line + group->first_line;
    w->name_of_group[number] = SEVERAL;
    for (uint32_t l = 0; group->line_count > 1 && l < group->line_count; l++)
        names[l] = name_of(w, group, &lines[l]);
    if (group->line_count < 2)
        w->name_of_group[number] = name_of(w, group, group->line_count ? lines : NULL);
    w->nameless |= innermost_name(w, number) == PCOL_NONE;
}

static pcol_status name_lines(struct pci_function_sums *w, pcol_error *err)
{
    const pcol_builder *b = w->b;
    w->name_of_code = pci_calloc(b->strings.count, sizeof *w->name_of_code);
    w->name_of_group = pci_malloc(b->group_count, sizeof *w->name_of_group);
    w->name_of_line = pci_malloc(b->line_count, sizeof *w->name_of_line);
    if (!w->name_of_code || !w->name_of_group || !w->name_of_line)
        return pci_fail_memory(err);
    for (size_t g = 0; g < b->group_count; g++)
        name_group(w, g);
    w->count++; /* samples without any name */
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
    struct adder *a = pci_malloc(1, sizeof *a);
    size_t t;
    if (!a)
        return pci_fail_memory(err);
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
    w->types = pci_malloc(b->type_count, sizeof *w->types);
    w->good = pci_calloc(b->type_count, 1);
    w->values = pci_malloc(b->type_count, sizeof(struct pci_column_buffer *));
    if (!w->types || !w->good || !w->values)
        return pci_fail_memory(err);
    for (size_t k = 0; k < b->type_count; k++) {
        if (b->types[k].flags & (PCOL_SAMPLE_TYPE_LEVEL | PCOL_SAMPLE_TYPE_DOUBLE))
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
    struct pci_function_sums *w = pci_calloc(1, sizeof *w);
    if (!w)
        return pci_fail_memory(err);
    w->b = b;
    atomic_init(&w->next, 1); /* the first lane starts with type 0 */
    w->stack = b->columns[PCI_C_SAMPLE_STACK];
    pcol_status status = find_types(w, err);
    if (status == PCOL_OK && w->type_count)
        status = name_binaries(w, err);
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
    if (w->count - 1 > tree->count / MIN_STACKS_PER_CELL / w->type_count)
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

/* Append rows in the order of their names; samples without a name come last, if their sum is not 0.
 * Fills *rows entries of name_of_row. */
static pcol_status append_names(struct pci_function_sums *w, uint32_t *name_of_row, uint64_t *rows,
                                pcol_error *err)
{
    pcol_builder *b = w->b;
    uint32_t column, none = (uint32_t)w->count - 1;
    PCI_TRY(pci_column_buffer_new(b, PCI_T_FUNCTION_SUMS, "name", PCF_STRING, 0, PCI_DROP_NEVER,
                                  &column, err));
    *rows = 0;
    for (size_t rank = 0; rank < b->strings.count; rank++) {
        uint32_t code = b->strings.order[rank], name = w->name_of_code[code];
        if (!name || !w->shown[name - 1])
            continue;
        PCI_TRY(pci_column_buffer_set(b->columns[column], *rows, code, err));
        name_of_row[(*rows)++] = name - 1;
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
    if (status == PCOL_OK)
        status = append_names(w, name_of_row, &rows, err);
    for (size_t t = 0; t < w->type_count && status == PCOL_OK; t++) {
        if (!w->good[t])
            continue;
        status = append_sums(w, "self", t, w->self + t * w->count, name_of_row, rows, err);
        if (status == PCOL_OK)
            status = append_sums(w, "total", t, w->total + t * w->count, name_of_row, rows, err);
    }
    pci_free(name_of_row);
    return status;
}
