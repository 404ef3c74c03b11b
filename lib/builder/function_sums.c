/*
 * function_sums.c - self and total of each function, made when the file is written
 *
 * What most people ask first, and what otherwise takes a walk over all stacks. A function is a name
 * here, as it is shown: stacks of functions that are called the same are not told apart, and code
 * without a function goes by the binary that it is in. The rows of the tree stand in pre-order, so
 * what is below a row are the rows behind it up to its end, and what samples of these weigh
 * together is the difference of two running sums. A name counts where it stands on the path for the
 * first time, so that recursion counts once: that is where a row lies behind the end of the row
 * that counted last.
 */
#include "builder/builder.h"

#include "util/alloc.h"

#include <stdatomic.h>
#include <stdio.h>

/* Small files answer soon enough, and would grow; so do those whose functions are many. */
#define LEAST_STACKS 16384u
#define STACKS_OF_CELL 16u
#define LINES_OF_STACK 16u
#define LARGE_TREE (UINT32_C(1) << 18)

struct name {
    uint32_t covered;    /* end of the row that counted last; 0: no row shows it */
    int64_t self, total; /* of the type that is added up */
};

struct pci_function_sums {
    pcol_builder *b;
    const struct pci_column_buffer *stack; /* samples.stack */
    uint32_t *binary_names;                /* by mapping; one more: of code without */
    uint64_t binary_count;
    uint32_t *name_of_code;  /* 1 + name, by string; 0: none */
    uint32_t *name_of_group; /* SEVERAL: see its lines */
    uint32_t *name_of_line;  /* of groups with several */
    int nameless;            /* a group shows no name at all */
    size_t count;            /* of names; one more, without a string: samples that show none */
    uint8_t *shown;          /* by name: some row of the tree does */
    uint32_t *end;           /* by row of the tree: of what is below it; NULL: it does not pay */
    uint32_t *leaf;          /* by row: the innermost name on the path; only if nameless */
    size_t *types;           /* those that are summed */
    const struct pci_column_buffer **values; /* by entry of types */
    uint8_t *good; /* by entry of types: all values and their sum can be had */
    size_t type_count;
    atomic_size_t next;    /* of types: the one that is summed next */
    int64_t *self, *total; /* by entry of types and name */
};

/* What one thread needs to add up one type after the other. */
struct adder {
    struct pci_function_sums *w;
    struct name *names; /* those of w, with amounts of the type */
    int64_t *before;    /* by row, and one more: what samples of rows before it weigh */
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

/* ---- names of binaries, while strings may still come */

/* "[NAME]" of a path's last part; "<unknown>" if there is none. */
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

/* Whether a line goes by its binary. NULL: the line of a group without lines. */
static int is_of_binary(const pcol_builder *b, const pcol_line *line)
{
    if (line && line->function != PCOL_NONE)
        return !has_name(b, line->function);
    return !line || line->filename == PCOL_NONE;
}

static int group_is_of_binary(const pcol_builder *b, const struct pci_group_record *group)
{
    for (uint32_t l = 0; l < group->line_count; l++)
        if (is_of_binary(b, &b->lines[group->first_line + l]))
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

/* Paths of all mappings. */
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
        uint64_t at = binary_of(w, &b->groups[g]);
        if (names[at] == PCOL_NONE && group_is_of_binary(b, &b->groups[g]))
            status = name_binary(b, at < count ? paths[at] : PCOL_NONE, &names[at], err);
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
    if (is_of_binary(b, line))
        return name_of_string(w, w->binary_names[binary_of(w, group)]);
    if (line->function == PCOL_NONE)
        return PCOL_NONE;
    return name_of_string(w, b->functions[line->function].name);
}

/* The first line of a group is the innermost; PCOL_NONE: none of them shows a name. */
static uint32_t innermost(const struct pci_function_sums *w, size_t number)
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
    w->nameless |= innermost(w, number) == PCOL_NONE;
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
    w->count++; /* that of samples that show none */
    return PCOL_OK;
}

/* ---- rows of the tree */

/* The last child of a row ends where the row does. */
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
        uint32_t name = innermost(w, tree->groups[row]);
        w->leaf[row] = name == PCOL_NONE ? w->leaf[tree->parents[row]] : name;
    }
}

static inline uint32_t leaf_of(const struct pci_function_sums *w, size_t row)
{
    if (w->leaf)
        return w->leaf[row];
    return row ? innermost(w, w->b->tree.groups[row]) : PCOL_NONE;
}

/* ---- adding up */

/* Adds up one type. It is not good if a value is negative, since those who ask want the magnitudes
 * of samples beside their sums, or if the sum of all does not fit. */
static pcol_status weigh(struct adder *a, size_t type, pcol_error *err)
{
    const struct pci_function_sums *w = a->w;
    struct pci_block_reader *stacks = &a->readers[0], *values = &a->readers[1];
    struct pci_column_buffer_source of_stacks, of_values;
    int64_t whole = 0;
    pcol_status status;
    pci_column_buffer_source_init(&of_stacks, w->stack, w->b->tree.place);
    pci_block_reader_init(stacks, &of_stacks.source);
    pci_column_buffer_source_init(&of_values, w->values[type], NULL);
    pci_block_reader_init(values, &of_values.source);
    while ((status = pci_block_reader_next(stacks, err)) == PCOL_OK && stacks->n) {
        PCI_TRY(pci_block_reader_next(values, err));
        for (size_t i = 0; i < stacks->n; i++) {
            int64_t value = values->values[i];
            if (!stacks->valid[i] || !values->valid[i])
                continue;
            if (value < 0 || __builtin_add_overflow(whole, value, &whole))
                return PCOL_OK;
            a->before[stacks->values[i]] += value;
        }
    }
    w->good[type] = status == PCOL_OK;
    return status;
}

/* What each row weighs becomes what all rows before it weigh. */
static void add_self(struct adder *a)
{
    const struct pci_function_sums *w = a->w;
    struct name *none = &a->names[w->count - 1];
    int64_t sum = 0;
    for (size_t row = 0; row <= w->b->tree.count; row++) {
        int64_t own = a->before[row];
        a->before[row] = sum;
        if (!own)
            continue;
        uint32_t leaf = leaf_of(w, row);
        (leaf == PCOL_NONE ? none : &a->names[leaf])->self += own;
        sum += own;
    }
}

/* A row shows a name: if not within a row that does, what is below it is what the name has
 * there. */
static inline void show(struct adder *a, size_t row, uint32_t name)
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
            show(a, row, name);
        } else if (name == SEVERAL) {
            const struct pci_group_record *g = &w->b->groups[tree->groups[row]];
            for (uint32_t l = 0; l < g->line_count; l++)
                if (w->name_of_line[g->first_line + l] != PCOL_NONE)
                    show(a, row, w->name_of_line[g->first_line + l]);
        }
    }
    none->total = none->self;
}

static pcol_status add_up(struct adder *a, size_t type, pcol_error *err)
{
    struct pci_function_sums *w = a->w;
    size_t rows = w->b->tree.count + 1;
    memset(a->before, 0, rows * sizeof *a->before);
    memset(a->names, 0, w->count * sizeof *a->names);
    PCI_TRY(weigh(a, type, err));
    if (!w->good[type]) /* but for that, which names there are */
        memset(a->before, 0, rows * sizeof *a->before);
    add_self(a);
    add_total(a);
    for (size_t i = 0; i < w->count; i++) {
        w->self[type * w->count + i] = a->names[i].self;
        w->total[type * w->count + i] = a->names[i].total;
    }
    return PCOL_OK;
}

/* One or two types of a large tree are left to one lane: with what a second one needs, this would
 * be where packing takes most memory. */
static size_t lanes_of(const struct pci_function_sums *w)
{
    return w->type_count > 2 || w->b->tree.count < LARGE_TREE ? PCI_SUM_LANES : 1;
}

pcol_status pci_function_sums_add(struct pci_function_sums *w, size_t lane, pcol_error *err)
{
    if (!w->end || lane >= w->type_count || lane >= lanes_of(w))
        return PCOL_OK;
    struct adder *a = pci_malloc(1, sizeof *a);
    size_t t;
    if (!a)
        return pci_fail_memory(err);
    a->w = w;
    a->names = pci_malloc(w->count, sizeof *a->names);
    a->before = pci_malloc(w->b->tree.count + 1, sizeof *a->before);
    pcol_status status = a->names && a->before ? PCOL_OK : pci_fail_memory(err);
    if (lane == 0 && status == PCOL_OK) /* whatever the other one is quick enough to take */
        status = add_up(a, 0, err);
    while (status == PCOL_OK && (t = atomic_fetch_add(&w->next, 1)) < w->type_count)
        status = add_up(a, t, err);
    for (size_t i = 0; lane == 0 && i < w->count && status == PCOL_OK; i++)
        w->shown[i] = a->names[i].covered != 0;
    pci_free(a->names);
    pci_free(a->before);
    pci_free(a);
    return status;
}

/* ---- beginning and adding up */

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
    if (b->tree.count < LEAST_STACKS || !b->columns[PCI_C_SAMPLE_STACK]->present)
        return PCOL_OK;
    if (paths && paths->type != PCF_STRING) /* of another file's own bytes: no codes */
        return PCOL_OK;
    struct pci_function_sums *w = pci_calloc(1, sizeof *w);
    if (!w)
        return pci_fail_memory(err);
    w->b = b;
    atomic_init(&w->next, 1); /* the first lane begins with type 0 */
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

/* Whether the table is small beside the stacks, and the walk not longer than them: a group may have
 * any number of lines. */
static int pays(const struct pci_function_sums *w)
{
    const struct pci_call_tree *tree = &w->b->tree;
    uint64_t lines = 0;
    if (w->count - 1 > tree->count / STACKS_OF_CELL / w->type_count)
        return 0;
    for (size_t row = 1; row < tree->count; row++)
        if (w->name_of_group[tree->groups[row]] == SEVERAL)
            lines += w->b->groups[tree->groups[row]].line_count;
    return lines / LINES_OF_STACK < tree->count;
}

pcol_status pci_function_sums_begin(struct pci_function_sums *w, pcol_error *err)
{
    size_t rows = w->b->tree.count;
    PCI_TRY(name_lines(w, err));
    if (!pays(w))
        return PCOL_OK;
    if (w->nameless)
        w->leaf = pci_malloc(rows, sizeof *w->leaf);
    w->shown = pci_malloc(w->count, 1);
    w->self = pci_malloc(w->type_count * w->count, sizeof *w->self);
    w->total = pci_malloc(w->type_count * w->count, sizeof *w->total);
    uint32_t *end = pci_malloc(rows, sizeof *end);
    w->end = end; /* freed with the rest, whatever is missing */
    if (!end || (w->nameless && !w->leaf) || !w->shown || !w->self || !w->total)
        return pci_fail_memory(err);
    find_ends(w);
    if (w->leaf)
        find_leaves(w);
    return PCOL_OK;
}

/* ---- columns */

/* Rows are in the order of their strings, which is that of their bytes; samples that show no name
 * come last, if they have anything. *rows of name_of_row are filled in. */
static pcol_status put_names(struct pci_function_sums *w, uint32_t *name_of_row, uint64_t *rows,
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

static pcol_status put_amounts(struct pci_function_sums *w, const char *what, size_t type,
                               const int64_t *amounts, const uint32_t *name_of_row, uint64_t rows,
                               pcol_error *err)
{
    uint32_t column;
    char name[32];
    snprintf(name, sizeof name, "%s.%zu", what, w->types[type]);
    PCI_TRY(pci_column_buffer_new(w->b, PCI_T_FUNCTION_SUMS, name, PCF_I64, 0, PCI_DROP_NEVER,
                                  &column, err));
    for (uint64_t row = 0; row < rows; row++)
        PCI_TRY(pci_column_buffer_set(w->b->columns[column], row, amounts[name_of_row[row]], err));
    return PCOL_OK;
}

pcol_status pci_function_sums_put(struct pci_function_sums *w, pcol_error *err)
{
    if (!w || !w->end || !memchr(w->good, 1, w->type_count))
        return PCOL_OK;
    uint32_t *name_of_row = pci_malloc(w->count, sizeof *name_of_row);
    pcol_status status = name_of_row ? PCOL_OK : pci_fail_memory(err);
    uint64_t rows = 0;
    if (status == PCOL_OK)
        status = put_names(w, name_of_row, &rows, err);
    for (size_t t = 0; t < w->type_count && status == PCOL_OK; t++) {
        if (!w->good[t])
            continue;
        status = put_amounts(w, "self", t, w->self + t * w->count, name_of_row, rows, err);
        if (status == PCOL_OK)
            status = put_amounts(w, "total", t, w->total + t * w->count, name_of_row, rows, err);
    }
    pci_free(name_of_row);
    return status;
}
