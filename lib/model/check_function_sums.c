/*
 * check_function_sums.c - function_sums, compared with sums over all stacks
 *
 * Each row of `locations` gets the number of its name. One walk over the stacks per sample type
 * counts how often each name is on the path; the total of a name grows when its outermost
 * occurrence is left, so recursion counts once. Tests: tests/unit/test_check.c.
 */
#include "model/check.h"
#include "model/frame_names.h"
#include "model/types.h"

#include "builder/string_pool.h"
#include "util/alloc.h"

#include <stdio.h>
#include <string.h>

#define LINES_OF_STACK 16u

struct step {
    uint32_t row, count;
    uint64_t first; /* row of locations */
    uint32_t leaf;
    int64_t sum;
};

struct sums {
    struct pci_check *check;
    const pcol_file *file;
    struct pci_stacks tree;
    struct pci_string_pool names;
    struct pci_text_memo long_names;
    uint32_t *of_location; /* by row of locations; PCOL_NONE: no name */
    uint32_t *first;       /* by name: lowest row of locations that shows it */
    size_t first_capacity;
    uint32_t *on_path;     /* by name */
    int64_t *self, *total; /* by name; one more for samples without a name */
    uint8_t *met;          /* by name: occurs on a stack */
    int64_t *weight;       /* by stack */
    struct step *path;
    size_t path_capacity;
    uint32_t *name_of_row; /* by row of function_sums */
    uint64_t rows;
    int lost; /* data could not be read or exceeds a limit, which was reported */
};

/* ---- names */

static pcol_status name_location(struct sums *s, struct pci_frame_namer *namer, uint32_t group,
                                 uint32_t row, pcol_error *err)
{
    struct pci_name shown;
    uint32_t *name = &s->of_location[row];
    size_t count = s->names.count;
    PCI_TRY(pci_frame_namer_get(namer, row, group, &shown, err));
    if (shown.is_place)
        return PCOL_OK;
    if (shown.is_made || shown.has_library)
        PCI_TRY(pci_string_pool_intern(&s->names, shown.name.data, shown.name.size, name, err));
    else
        PCI_TRY(pci_string_pool_intern_stored(&s->names, &s->long_names, shown.name, name, err));
    PCI_TRY(PCI_GROW(s->first, s->first_capacity, s->names.count, err));
    if (s->names.count > count)
        s->first[*name] = row;
    return PCOL_OK;
}

static pcol_status name_locations(struct sums *s, pcol_error *err)
{
    struct pci_frame_namer namer;
    PCI_TRY(PCI_MALLOC(s->of_location, (size_t)s->tree.locations + 1, err));
    memset(s->of_location, 0xff, ((size_t)s->tree.locations + 1) * sizeof *s->of_location);
    pcol_status status = pci_frame_namer_open(&namer, s->file, err);
    namer.libraries = 1;
    for (uint64_t group = 0; group < s->tree.groups && status == PCOL_OK; group++) {
        uint64_t first = 0, count = 0;
        status = pci_stacks_group(&s->tree, group, &first, &count, err);
        for (uint64_t row = first; row < first + count && status == PCOL_OK; row++)
            status = name_location(s, &namer, (uint32_t)group, (uint32_t)row, err);
    }
    pci_frame_namer_close(&namer);
    return status;
}

/* Rows of function_sums: ascending locations, each the first of its name, then optionally a null.
 */
static pcol_status name_rows(struct sums *s, pcol_error *err)
{
    const struct pci_column *column = pci_check_column(s->check, "function_sums", "location");
    struct pci_tally tally = PCI_TALLY(s->check, "function_sums", "location");
    int64_t location, last = -1;
    int valid = 0;
    for (uint64_t row = 0; row < s->rows; row++) {
        s->name_of_row[row] = PCOL_NONE;
        PCI_TRY(pci_get(s->file, column, row, &location, &valid, err));
        if (!valid) {
            if (row + 1 < s->rows)
                pci_fault(&tally, row, "only the last row may have no location");
            continue;
        }
        if (location <= last)
            pci_fault(&tally, row, "locations do not ascend");
        last = location;
        uint32_t name =
            (uint64_t)location < s->tree.locations ? s->of_location[location] : PCOL_NONE;
        s->name_of_row[row] = name;
        if (name == PCOL_NONE)
            pci_fault(&tally, row, "location %lld has no name", (long long)location);
        else if (s->first[name] != location)
            pci_fault(&tally, row, "location %u shows this name first", (unsigned)s->first[name]);
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}

/* ---- the walk */

static pcol_status weigh(struct sums *s, const struct pci_column *values, int *whole,
                         pcol_error *err)
{
    struct pci_check *check = s->check;
    const struct pci_column *stack = pci_check_column(check, "samples", "stack");
    uint64_t samples = pci_rows(s->file, "samples");
    int64_t sum = 0;
    size_t n, m;
    memset(s->weight, 0, (size_t)s->tree.stacks * sizeof *s->weight);
    *whole = values && values->desc->type == PCF_I64;
    for (uint64_t row = 0; *whole && row < samples; row += n) {
        PCI_TRY(pci_check_read_rows(check, stack, row, samples, s->tree.stacks, 0, &n, err));
        PCI_TRY(pci_check_read(check, values, row, samples, 1, &m, err));
        if (!n || !m) {
            s->lost = 1;
            return PCOL_OK;
        }
        for (size_t i = 0; i < n && *whole; i++) {
            int64_t value = check->values[1][i];
            if (!check->valid[0][i] || !check->valid[1][i])
                continue;
            if (value < 0 || __builtin_add_overflow(sum, value, &sum))
                *whole = 0;
            else
                s->weight[check->values[0][i]] += value;
        }
    }
    return PCOL_OK;
}

static void leave(struct sums *s, size_t at)
{
    const struct step *step = &s->path[at];
    for (uint64_t row = step->first; row < step->first + step->count; row++) {
        uint32_t name = s->of_location[row];
        if (name != PCOL_NONE && --s->on_path[name] == 0)
            s->total[name] += step->sum;
    }
    s->path[at - 1].sum += step->sum;
}

static pcol_status enter(struct sums *s, size_t at, uint32_t row, uint64_t first, uint64_t count,
                         pcol_error *err)
{
    uint32_t none = (uint32_t)s->names.count;
    PCI_TRY(PCI_GROW(s->path, s->path_capacity, at + 1, err));
    struct step *step = &s->path[at];
    *step = (struct step){row, (uint32_t)count, first, s->path[at - 1].leaf, s->weight[row]};
    for (uint64_t line = first + count; line-- > first;) {
        uint32_t name = s->of_location[line];
        if (name == PCOL_NONE)
            continue;
        step->leaf = name;
        s->met[name] = 1;
        s->on_path[name]++;
    }
    s->self[step->leaf == PCOL_NONE ? none : step->leaf] += step->sum;
    return PCOL_OK;
}

static pcol_status walk(struct sums *s, pcol_error *err)
{
    size_t names = s->names.count, top = 0;
    uint64_t lines = 0;
    memset(s->on_path, 0, (names + 1) * sizeof *s->on_path);
    memset(s->self, 0, (names + 1) * sizeof *s->self);
    memset(s->total, 0, (names + 1) * sizeof *s->total);
    s->path[0] = (struct step){.leaf = PCOL_NONE};
    s->self[names] = s->weight[0];
    for (uint32_t row = 1; row < s->tree.stacks; row++) {
        uint32_t parent;
        uint64_t first, count;
        PCI_TRY(pci_stacks_node(&s->tree, row, &parent, &first, &count, err));
        while (top && s->path[top].row != parent)
            leave(s, top--);
        lines += count > 1 ? count : 0;
        if (lines / LINES_OF_STACK >= s->tree.stacks) {
            struct pci_tally tally = PCI_TALLY(s->check, "function_sums", "");
            pci_fault(&tally, PCOL_POSITION_UNKNOWN, "stacks have too many lines for this table");
            s->lost = 1;
            return PCOL_OK;
        }
        PCI_TRY(enter(s, ++top, row, first, count, err));
    }
    while (top)
        leave(s, top--);
    s->total[names] = s->self[names];
    return PCOL_OK;
}

/* ---- comparing */

static pcol_status compare(struct sums *s, const struct pci_column *column, const int64_t *sums,
                           pcol_error *err)
{
    struct pci_check *check = s->check;
    struct pci_tally tally = PCI_TALLY(check, "function_sums", column->name);
    size_t n;
    for (uint64_t row = 0; row < s->rows; row += n) {
        PCI_TRY(pci_check_read(check, column, row, s->rows, 2, &n, err));
        if (!n)
            break;
        for (size_t i = 0; i < n; i++) {
            uint32_t name = s->name_of_row[row + i];
            if (!check->valid[2][i] ||
                check->values[2][i] != sums[name == PCOL_NONE ? s->names.count : name])
                pci_fault(&tally, row + i, "the sum is not that of the samples");
        }
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}

/* A type has both columns or neither. */
static pcol_status check_type(struct sums *s, const struct pci_types *types, uint32_t type,
                              pcol_error *err)
{
    const struct pci_column *columns[2];
    const char *const what[] = {"self", "total"};
    char name[32];
    int whole;
    struct pci_tally tally = PCI_TALLY(s->check, "function_sums", name);
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s.%u", what[i], (unsigned)type);
        columns[i] = pci_column_find(pci_table_find(s->file, "function_sums"), name);
    }
    if (!columns[0] && !columns[1])
        return PCOL_OK;
    PCI_TRY(weigh(s, types->is_gauge[type] ? NULL : types->columns[type], &whole, err));
    if (!whole || !columns[0] || !columns[1])
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this type cannot have these sums");
    if (s->lost || !whole || !columns[0] || !columns[1])
        return PCOL_OK;
    PCI_TRY(walk(s, err));
    if (s->lost)
        return PCOL_OK;
    PCI_TRY(compare(s, columns[0], s->self, err));
    return compare(s, columns[1], s->total, err);
}

/* Called after a walk. */
static void check_missing(struct sums *s)
{
    struct pci_tally tally = PCI_TALLY(s->check, "function_sums", "location");
    int unnamed = s->name_of_row[s->rows - 1] == PCOL_NONE;
    for (uint64_t row = 0; row < s->rows; row++) {
        if (s->name_of_row[row] == PCOL_NONE)
            continue;
        uint8_t *met = &s->met[s->name_of_row[row]];
        if (!*met)
            pci_fault(&tally, row, "no stack shows this name");
        *met = 0;
    }
    for (size_t i = 0; i < s->names.count; i++) {
        pcol_str name = pci_string_pool_get(&s->names, (uint32_t)i);
        if (s->met[i])
            pci_fault(&tally, PCOL_POSITION_UNKNOWN, "the row of '%.*s' is missing",
                      (int)(name.size < 80 ? name.size : 80), name.data);
    }
    if (!unnamed && s->self[s->names.count])
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "the row of samples without a name is missing");
    pci_tally_end(&tally);
}

static pcol_status check_all(struct sums *s, const struct pci_types *types, pcol_error *err)
{
    PCI_TRY(PCI_MALLOC(s->name_of_row, (size_t)s->rows + 1, err));
    PCI_TRY(name_locations(s, err));
    PCI_TRY(name_rows(s, err));
    size_t names = s->names.count + 1;
    s->on_path = pci_calloc(names, sizeof *s->on_path);
    s->self = pci_calloc(names, sizeof *s->self);
    s->total = pci_calloc(names, sizeof *s->total);
    s->met = pci_calloc(names, 1);
    s->weight = pci_calloc((size_t)s->tree.stacks + 1, sizeof *s->weight);
    if (!s->on_path || !s->self || !s->total || !s->met || !s->weight ||
        pci_grow((void **)&s->path, &s->path_capacity, 64, sizeof *s->path))
        return pci_fail_memory(err);
    for (uint32_t k = 0; k < types->count && !s->check->stop && !s->lost; k++)
        PCI_TRY(check_type(s, types, k, err));
    if (!s->lost && !s->check->stop)
        check_missing(s);
    return PCOL_OK;
}

pcol_status pci_check_function_sums(struct pci_check *check, pcol_error *err)
{
    static const char *const tables[] = {"function_sums", "samples",        "stacks",
                                         "sample_types",  "functions",      "locations",
                                         "mappings",      "location_groups"};
    struct sums s = {.check = check, .file = check->file};
    struct pci_types types = {0};
    pcol_error error = {0};
    pcol_status status;
    s.rows = pci_rows(check->file, "function_sums");
    if (!s.rows)
        return PCOL_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (pci_rows(check->file, tables[i]) && !pci_check_table(check, tables[i]))
            return PCOL_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (i != 1 && pci_check_row_count(check->file, tables[i], &error) != PCOL_OK)
            return pci_fault_error(check, &error, err);
    status = pci_stacks_open(check->file, &s.tree, &error);
    PCI_THEN(status, pci_types_open(check->file, &types, &error));
    PCI_THEN(status, check_all(&s, &types, &error));
    pci_types_close(&types);
    pci_string_pool_clear(&s.names);
    pci_text_memo_clear(&s.long_names);
    pci_free(s.of_location);
    pci_free(s.first);
    pci_free(s.on_path);
    pci_free(s.self);
    pci_free(s.total);
    pci_free(s.met);
    pci_free(s.weight);
    pci_free(s.path);
    pci_free(s.name_of_row);
    return status == PCOL_OK ? PCOL_OK : pci_fault_error(check, &error, err);
}
