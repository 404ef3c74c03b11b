/*
 * joins.c - construction of joined tables (joins.h)
 *
 * A table of rules says which columns of ids are joined, and with what. A joined table belongs to
 * its table, is made on first use and published by compare and exchange.
 */
#include "model/joins.h"
#include "model/v1.h"

#include "util/alloc.h"
#include "util/arg_check.h"

#include <stddef.h>
#include <string.h>

/* A cell of the row of a table, or of the row of the table `of` that its cell names. */
struct rule_path {
    const char *via, *of, *cell;
};

/* Columns `ids` that refer to `table` are joined as the column `name`. */
struct rule {
    const char *ids, *further_ids, *table; /* further_ids: the same in physical tables; or NULL */
    int is_physical;                       /* the table, whose rows count from 0 */
    const char *name;
    pcol_type type;
    enum pci_join_kind kind;
    struct rule_path paths[PCI_JOIN_PATHS];
    const char *documentation;
};

#define LOCATION "location_id", NULL, "locations", 0
#define FUNCTION "function_id", NULL, "functions", 0
#define SOURCE "source_id", NULL, "sources", 0
#define STACK ".stack_id", "stack", "stacks", 1
#define THREAD ".thread_id", "thread", "threads", 1
#define CATEGORY ".category", "category", "categories", 1
#define MAPPING ".mapping_id", "mapping", "mappings", 1
#define FRAMES(kind, name) name, PCOL_STRING, PCI_JOIN_##kind
#define TEXT(name) name, PCOL_STRING, PCI_JOIN_CELL
#define NUMBER(name) name, PCOL_I64, PCI_JOIN_CELL
/* clang-format off */
#define FROM(cell) {{NULL, NULL, cell}}
/* clang-format on */

static const struct rule rules[] = {
    {LOCATION, FRAMES(FRAME, "name"), {{0}}, "name of the frame: function, else place or binary"},
    {LOCATION,
     TEXT("filename"),
     {{"function_id", "functions", "filename"}, {NULL, NULL, ".filename"}},
     "source file"},
    {LOCATION, NUMBER("line"), FROM("line"), "line of filename"},
    {FUNCTION, TEXT("name"), FROM("name"), "name of the function"},
    {FUNCTION, TEXT("filename"), FROM("filename"), "source file of the function"},
    {SOURCE, TEXT("source_uri"), FROM("source_uri"), "path or URL of the input"},
    {SOURCE, TEXT("source_type"), FROM("source_type"), "format of the input"},
    {STACK, FRAMES(STACK, "stack"), {{0}}, "names of the frames, outermost first"},
    {THREAD,
     TEXT("thread"),
     {{NULL, NULL, "name"}, {NULL, NULL, "tid"}},
     "name of the thread, else its tid"},
    {CATEGORY, TEXT("category"), FROM("name"), "name of the category"},
    {MAPPING, TEXT("mapping"), FROM("filename"), "binary or library"},
};
enum { RULES = sizeof rules / sizeof *rules };

/* A table's own ids are not joined. */
static int applies(const struct rule *rule, const pcol_column *column)
{
    if (!column->references || strcmp(column->references, rule->table) != 0 ||
        (!rule->is_physical && strcmp(column->table->name, rule->table) == 0))
        return 0;
    return strcmp(column->name, rule->ids) == 0 ||
           (rule->further_ids && strcmp(column->name, rule->further_ids) == 0);
}

static pcol_status find_cell(const pcol_table *table, const char *name, pcol_type type,
                             const pcol_column **cell, pcol_error *err)
{
    const pcol_column *found = pcol_table_column_by_name(table, name, NULL);
    *cell = found;
    if (!found || found->type == type || (type == PCOL_STRING && found->type == PCOL_BYTES))
        return PCOL_OK;
    return pci_corrupt(err, table->name, found->name, PCOL_POSITION_UNKNOWN,
                       "this column cannot be of type %s", pcol_type_name(found->type));
}

static pcol_status find_table(const pcol_table *from, const char *name, int is_physical,
                              const pcol_table **table, pcol_error *err)
{
    pcol_model model = is_physical                    ? PCOL_MODEL_PHYSICAL
                       : from->model == PCOL_MODEL_V1 ? PCOL_MODEL_V1
                                                      : PCOL_MODEL_V2;
    pcol_error failure;
    pcol_status status = pcol_file_table_by_name(from->file, model, name, table, &failure);
    return status == PCOL_E_NOT_FOUND ? PCOL_OK : pci_pass_error(err, &failure, status);
}

static pcol_status find_path(const pcol_table *from, const struct rule *rule,
                             const struct rule_path *given, struct pci_join_path *path,
                             pcol_error *err)
{
    const pcol_table *table, *of;
    PCI_TRY(find_table(from, rule->table, rule->is_physical, &table, err));
    if (!table || !given->cell)
        return PCOL_OK;
    if (!given->via)
        return find_cell(table, given->cell, rule->type, &path->cell, err);
    PCI_TRY(find_table(from, given->of, 0, &of, err));
    PCI_TRY(find_cell(table, given->via, PCOL_I64, &path->via, err));
    return of && path->via ? find_cell(of, given->cell, rule->type, &path->cell, err) : PCOL_OK;
}

/* Whether the texts of all paths are of the pool; there is one path at least. */
static int is_of_pool(const struct pci_join *join)
{
    int count = 0;
    for (size_t i = 0; i < PCI_JOIN_PATHS; i++) {
        const pcol_column *cell = join->paths[i].cell;
        count += cell != NULL;
        if (cell && !pci_column_has_codes(cell))
            return 0;
    }
    return count > 0;
}

/* Appends the column of a rule; its ids are added later, at index `ids`. */
static pcol_status add_joined(pcol_table *t, const struct rule *rule, uint32_t ids, pcol_error *err)
{
    struct pci_join *join = &t->joins[t->join_count++];
    pcol_column *column = pci_table_add(t, rule->name, rule->type);
    *join = (struct pci_join){.kind = rule->kind,
                              .ids = &t->columns[ids],
                              .first_id = !rule->is_physical,
                              .documentation = rule->documentation};
    column->join = join;
    column->nullable = 1;
    /* The name of a location whose function is joined is that of its frame. */
    if (strcmp(t->name, "locations") == 0 && strcmp(rule->name, "name") == 0) {
        const struct pci_v1 *maps = t->model == PCOL_MODEL_V1 ? t->aux : NULL;
        join->kind = PCI_JOIN_FRAME;
        join->by_row = 1;
        join->rows = maps ? maps->location_rows : NULL;
    }
    for (size_t i = 0; i < PCI_JOIN_PATHS && join->kind == PCI_JOIN_CELL; i++)
        PCI_TRY(find_path(t, rule, &rule->paths[i], &join->paths[i], err));
    column->by_code = (uint8_t)is_of_pool(join);
    column->is_composed = join->kind != PCI_JOIN_CELL;
    return PCOL_OK;
}

/* A copy of a column of the table. Ids that have the name of their joined column get another. */
static pcol_status add_shared(pcol_table *t, const pcol_column *shared, int is_replaced,
                              pcol_error *err)
{
    static const char suffix[] = "_id";
    uint32_t index = t->column_count++;
    pcol_column *column = &t->columns[index];
    memcpy(column, shared, offsetof(pcol_column, array)); /* others may set the array */
    column->table = t;
    column->index = index;
    column->shared = shared;
    column->is_replaced = (uint8_t)is_replaced;
    for (uint32_t i = index; i > 0 && t->columns[i - 1].join; i--)
        if (is_replaced && strcmp(t->columns[i - 1].name, shared->name) == 0) {
            char *name;
            size_t size = strlen(shared->name);
            PCI_TRY(PCI_MALLOC(name, size + sizeof suffix, err));
            memcpy(name, shared->name, size);
            memcpy(name + size, suffix, sizeof suffix);
            t->owned[t->owned_count++] = name;
            column->name = name;
        }
    return PCOL_OK;
}

static uint32_t count_rules(const pcol_column *column)
{
    uint32_t count = 0;
    for (size_t i = 0; i < RULES; i++)
        count += (uint32_t)applies(&rules[i], column);
    return count;
}

static pcol_status fill(pcol_table *t, const pcol_table *from, uint32_t joins, pcol_error *err)
{
    t->model = from->model;
    t->aux = from->aux; /* owned by the table */
    t->expander = from->expander;
    t->joined_from = from;
    PCI_TRY(pci_table_add_reads(t, from->reads, from->read_count, err));
    PCI_TRY(PCI_CALLOC(t->joins, joins, err));
    PCI_TRY(PCI_GROW(t->owned, t->owned_capacity, joins, err));
    for (uint32_t i = 0; i < from->column_count; i++) {
        const pcol_column *column = &from->columns[i];
        uint32_t count = count_rules(column), ids = t->column_count + count;
        for (size_t k = 0; count && k < RULES; k++)
            if (applies(&rules[k], column))
                PCI_TRY(add_joined(t, &rules[k], ids, err));
        PCI_TRY(add_shared(t, column, count > 0, err));
    }
    return PCOL_OK;
}

static pcol_status make_joined(const pcol_table *from, const pcol_table **joined, pcol_error *err)
{
    /* The joined table does not change the table as the caller sees it. */
    pcol_table *writable = (pcol_table *)(uintptr_t)from;
    pcol_table *t, *before = NULL;
    uint32_t joins = 0;
    for (uint32_t i = 0; i < from->column_count; i++)
        joins += count_rules(&from->columns[i]);
    *joined = from;
    if (!joins)
        return PCOL_OK;
    *joined = NULL;
    PCI_TRY(pci_table_new(from->file, from->name, from->rows, from->column_count + joins, &t, err));
    pcol_status status = fill(t, from, joins, err);
    if (status != PCOL_OK) {
        pci_table_free(t);
        return status;
    }
    if (!atomic_compare_exchange_strong(&writable->joined, &before, t)) {
        pci_table_free(t);
        t = before;
    }
    *joined = t;
    return PCOL_OK;
}

pcol_status pcol_table_joined(const pcol_table *table, const pcol_table **joined, pcol_error *err)
{
    PCI_REQUIRE(joined, err);
    *joined = NULL;
    PCI_REQUIRE(table, err);
    *joined = table;
    if (table->owner || table->is_physical || table->joined_from)
        return PCOL_OK;
    *joined = atomic_load_explicit(&table->joined, memory_order_acquire);
    return *joined ? PCOL_OK : make_joined(table, joined, err);
}
