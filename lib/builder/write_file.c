/*
 * write_file.c - conversion of a builder to a file
 *
 * Structs become columns, strings get their ranks, stacks their preorder indices. Tables and
 * columns without content are omitted; the others are declared to the container writer and encoded
 * (encode_tables.c). Tests: tests/unit/test_builder.c, tests/hostile/bounds.
 */
#include "builder/builder.h"

#include "util/alloc.h"
#include "util/control.h"
#include "util/thread_pool.h"

/* ---- structs to columns ---- */

static pcol_status add_column(pcol_builder *b, uint32_t table, const char *name, uint8_t type,
                              uint32_t references, uint8_t drop, struct pci_column_buffer **out,
                              pcol_error *err)
{
    uint32_t c;
    *out = NULL;
    PCI_TRY(pci_column_buffer_new(b, table, name, type, references, drop, &c, err));
    *out = b->columns[c];
    return PCOL_OK;
}

static pcol_status set_string(struct pci_column_buffer *c, uint64_t row, uint32_t string,
                              pcol_error *err)
{
    return string == PCOL_NONE ? PCOL_OK : pci_column_buffer_set(c, row, string, err);
}

static pcol_status add_functions(pcol_builder *b, pcol_error *err)
{
    struct pci_column_buffer *name, *system_name, *filename, *start_line, *id;
    int other_system_name = 0;
    PCI_TRY(add_column(b, PCI_T_FUNCTIONS, "name", PCF_STRING, 0, PCI_DROP_NULL, &name, err));
    PCI_TRY(add_column(b, PCI_T_FUNCTIONS, "system_name", PCF_STRING, 0, PCI_DROP_NULL,
                       &system_name, err));
    PCI_TRY(
        add_column(b, PCI_T_FUNCTIONS, "filename", PCF_STRING, 0, PCI_DROP_NULL, &filename, err));
    PCI_TRY(
        add_column(b, PCI_T_FUNCTIONS, "start_line", PCF_I64, 0, PCI_DROP_NULL, &start_line, err));
    PCI_TRY(add_column(b, PCI_T_FUNCTIONS, "id", PCF_U64, 0, PCI_DROP_NULL, &id, err));
    for (size_t i = 0; i < b->function_count; i++)
        other_system_name |= b->functions[i].system_name != b->functions[i].name;
    for (size_t i = 0; i < b->function_count; i++) {
        const struct pci_function_record *f = &b->functions[i];
        PCI_TRY(set_string(name, i, f->name, err));
        if (other_system_name)
            PCI_TRY(set_string(system_name, i, f->system_name, err));
        PCI_TRY(set_string(filename, i, f->filename, err));
        if (f->bits & 1)
            PCI_TRY(pci_column_buffer_set(start_line, i, f->start_line, err));
        if (f->bits & 2)
            PCI_TRY(pci_column_buffer_set(id, i, (int64_t)f->id, err));
    }
    b->tables[PCI_T_FUNCTIONS].rows = b->function_count;
    return PCOL_OK;
}

struct location_columns {
    struct pci_column_buffer *function, *line, *column, *filename;
    struct pci_column_buffer *first, *mapping, *address, *folded, *id, *file_number;
};

static pcol_status add_location_columns(pcol_builder *b, struct location_columns *c,
                                        pcol_error *err)
{
    PCI_TRY(add_column(b, PCI_T_LOCATIONS, "function", PCF_U32, PCI_T_FUNCTIONS + 1, PCI_DROP_NULL,
                       &c->function, err));
    PCI_TRY(add_column(b, PCI_T_LOCATIONS, "line", PCF_I64, 0, PCI_DROP_NULL, &c->line, err));
    PCI_TRY(add_column(b, PCI_T_LOCATIONS, "column", PCF_I64, 0, PCI_DROP_NULL, &c->column, err));
    PCI_TRY(add_column(b, PCI_T_LOCATIONS, "filename", PCF_STRING, 0, PCI_DROP_NULL, &c->filename,
                       err));
    PCI_TRY(add_column(b, PCI_T_GROUPS, "first_location", PCF_U32, PCI_T_LOCATIONS + 1,
                       PCI_DROP_NULL, &c->first, err));
    PCI_TRY(add_column(b, PCI_T_GROUPS, "mapping", PCF_U32, PCI_T_MAPPINGS + 1, PCI_DROP_NULL,
                       &c->mapping, err));
    PCI_TRY(add_column(b, PCI_T_GROUPS, "address", PCF_U64, 0, PCI_DROP_NULL, &c->address, err));
    PCI_TRY(add_column(b, PCI_T_GROUPS, "folded", PCF_BOOL, 0, PCI_DROP_ZERO, &c->folded, err));
    PCI_TRY(add_column(b, PCI_T_GROUPS, "id", PCF_U64, 0, PCI_DROP_NULL, &c->id, err));
    return add_column(b, PCI_T_GROUPS, "file_number", PCF_I64, 0, PCI_DROP_NULL, &c->file_number,
                      err);
}

static pcol_status set_group(const struct location_columns *c, const struct pci_group_record *g,
                             uint64_t row, pcol_error *err)
{
    if (g->mapping != PCOL_NONE)
        PCI_TRY(pci_column_buffer_set(c->mapping, row, g->mapping, err));
    if (g->bits & 1)
        PCI_TRY(pci_column_buffer_set(c->address, row, (int64_t)g->address, err));
    if (g->bits & 2)
        PCI_TRY(pci_column_buffer_set(c->id, row, (int64_t)g->id, err));
    if (g->bits & 4)
        PCI_TRY(pci_column_buffer_set(c->file_number, row, g->file_number, err));
    if (g->bits & 8)
        PCI_TRY(pci_column_buffer_set(c->folded, row, 1, err));
    return PCOL_OK;
}

static pcol_status set_line(const struct location_columns *c, const pcol_line *l, uint64_t row,
                            pcol_error *err)
{
    if (l->function != PCOL_NONE)
        PCI_TRY(pci_column_buffer_set(c->function, row, l->function, err));
    if (l->flags & PCOL_LINE_HAS_LINE)
        PCI_TRY(pci_column_buffer_set(c->line, row, l->line, err));
    if (l->flags & PCOL_LINE_HAS_COLUMN)
        PCI_TRY(pci_column_buffer_set(c->column, row, l->column, err));
    return set_string(c->filename, row, l->filename, err);
}

/* A group without lines has one row of locations, of nulls. */
static pcol_status add_locations(pcol_builder *b, pcol_error *err)
{
    struct location_columns c;
    uint64_t row = 0;
    int one_to_one = 1;
    PCI_TRY(add_location_columns(b, &c, err));
    for (size_t i = 0; i < b->group_count; i++)
        one_to_one &= b->groups[i].line_count <= 1;
    for (size_t i = 0; i < b->group_count; i++) {
        const struct pci_group_record *g = &b->groups[i];
        if (!one_to_one)
            PCI_TRY(pci_column_buffer_set(c.first, i, (int64_t)row, err));
        PCI_TRY(set_group(&c, g, i, err));
        for (uint32_t l = 0; l < g->line_count; l++)
            PCI_TRY(set_line(&c, &b->lines[g->first_line + l], row + l, err));
        row += g->line_count ? g->line_count : 1;
    }
    if (row >= PCOL_NONE)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 locations");
    b->tables[PCI_T_GROUPS].rows = b->group_count;
    b->tables[PCI_T_LOCATIONS].rows = row;
    return PCOL_OK;
}

static pcol_status add_types(pcol_builder *b, pcol_error *err)
{
    struct pci_column_buffer *type, *unit, *gauge, *ordinal;
    PCI_TRY(add_column(b, PCI_T_SAMPLE_TYPES, "type", PCF_STRING, 0, PCI_DROP_NEVER, &type, err));
    PCI_TRY(add_column(b, PCI_T_SAMPLE_TYPES, "unit", PCF_STRING, 0, PCI_DROP_NEVER, &unit, err));
    PCI_TRY(add_column(b, PCI_T_SAMPLE_TYPES, "level", PCF_BOOL, 0, PCI_DROP_ZERO, &gauge, err));
    PCI_TRY(add_column(b, PCI_T_SAMPLE_TYPES, "ordinal", PCF_U32, 0, PCI_DROP_ZERO, &ordinal, err));
    for (size_t i = 0; i < b->type_count; i++) {
        const struct pci_sample_type_record *t = &b->types[i];
        PCI_TRY(pci_column_buffer_set(type, i, t->type, err));
        PCI_TRY(pci_column_buffer_set(unit, i, t->unit, err));
        PCI_TRY(pci_column_buffer_set(gauge, i, t->flags & PCOL_SAMPLE_TYPE_GAUGE ? 1 : 0, err));
        PCI_TRY(pci_column_buffer_set(ordinal, i, t->ordinal, err));
    }
    return PCOL_OK;
}

/* ---- layout: tables and columns of the file ---- */

static int is_omitted(const struct pci_column_buffer *c)
{
    switch (c->drop) {
    case PCI_DROP_NULL:
        return c->present == 0;
    case PCI_DROP_ZERO:
        return c->all_bits == 0;
    default:
        return 0;
    }
}

static void count_rows(const pcol_builder *b, struct pci_table_plan *plan)
{
    for (size_t t = 0; t < b->table_count; t++)
        plan->rows[t] = b->tables[t].rows;
    for (size_t c = 0; c < b->column_count; c++)
        if (b->columns[c]->rows > plan->rows[b->columns[c]->table] &&
            pci_builder_adds_rows(b, b->columns[c]))
            plan->rows[b->columns[c]->table] = b->columns[c]->rows;
    plan->rows[PCI_T_SOURCES] = b->source_count;
    plan->rows[PCI_T_SAMPLE_TYPES] = b->type_count;
    plan->rows[PCI_T_FUNCTIONS] = b->function_count;
    plan->rows[PCI_T_GROUPS] = b->group_count;
    plan->rows[PCI_T_LOCATIONS] = b->tables[PCI_T_LOCATIONS].rows;
    plan->rows[PCI_T_STRINGS] = b->strings.count;
    plan->rows[PCI_T_STACKS] = b->tree.count > 1 ? b->tree.count : 0;
    for (size_t c = 0; c < b->column_count;
         c++) /* a root without children only if it is referred to */
        if (b->columns[c]->references == PCI_T_STACKS + 1 && b->columns[c]->present)
            plan->rows[PCI_T_STACKS] = b->tree.count;
    plan->rows[PCI_T_SAMPLES] = b->sample_count;
}

/* A table is written if it has rows, or if a column that is written refers to it. */
static void number_tables(const pcol_builder *b, struct pci_table_plan *plan)
{
    uint32_t number = 0;
    for (size_t t = 0; t < b->table_count; t++)
        plan->table_number[t] = plan->rows[t] > 0;
    plan->table_number[PCI_T_SOURCES] = plan->table_number[PCI_T_SAMPLES] = 1;
    for (size_t c = 0; c < b->column_count; c++) {
        const struct pci_column_buffer *col = b->columns[c];
        if (col->references && plan->rows[col->table] && !is_omitted(col))
            plan->table_number[col->references - 1] = 1;
    }
    for (size_t t = 0; t < b->table_count; t++)
        if (plan->table_number[t])
            plan->table_number[t] = ++number;
}

static pcol_status declare_tree(struct pci_container *w, struct pci_table_plan *plan,
                                pcol_error *err)
{
    PCI_TRY(pci_container_column(w, "parent", PCF_U32, plan->table_number[PCI_T_STACKS],
                                 &plan->parent, err));
    return pci_container_column(w, "group", PCF_U32, plan->table_number[PCI_T_GROUPS], &plan->group,
                                err);
}

static pcol_status declare_tables(pcol_builder *b, struct pci_container *w,
                                  struct pci_table_plan *plan, pcol_error *err)
{
    for (uint32_t t = 0; t < b->table_count; t++) {
        if (!plan->table_number[t])
            continue;
        PCI_TRY(pci_container_table(
            w, b->tables[t].name,
            (uint16_t)(b->tables[t].flags | (t == PCI_T_STACKS ? PCF_TABLE_PREORDER : 0)),
            plan->rows[t], err));
        if (t == PCI_T_STRINGS)
            PCI_TRY(pci_container_column(w, "value", PCF_BYTES, 0, &plan->strings, err));
        if (t == PCI_T_STACKS && plan->rows[t])
            PCI_TRY(declare_tree(w, plan, err));
        for (size_t c = 0; c < b->column_count; c++) {
            struct pci_column_buffer *col = b->columns[c];
            if (col->table != t || !plan->rows[t] || is_omitted(col))
                continue;
            PCI_TRY(
                pci_container_column(w, col->name, col->type,
                                     col->references ? plan->table_number[col->references - 1] : 0,
                                     &plan->columns[c], err));
        }
    }
    return PCOL_OK;
}

/* ---- preparation, in parallel tasks ---- */

struct preparation {
    pcol_builder *b;
    struct pci_function_sums *sums;
    int plain;
    struct pci_latch *placed; /* open: stacks have preorder indices, or that failed */
    struct pci_latch *begun;  /* open: sums can be computed, or that failed */
    pcol_status place_status, sum_status;
};

static pcol_status order_stacks(pcol_builder *b, pcol_error *err)
{
    PCI_TRY(pci_call_tree_finish(&b->tree, err));
    PCI_TRY(pci_column_buffer_fill(b->columns[PCI_C_SAMPLE_STACK], b->sample_count, err));
    for (size_t k = 0; k < b->type_count; k++)
        PCI_TRY(pci_column_buffer_fill(b->columns[b->types[k].column], b->sample_count, err));
    return PCOL_OK;
}

static pcol_status convert_tables(pcol_builder *b, int plain, pcol_error *err)
{
    PCI_TRY(pci_node_store_finish(b, err));
    PCI_TRY(pci_source_order_finish(b, err));
    PCI_TRY(add_types(b, err));
    PCI_TRY(pci_source_types_finish(b, err));
    PCI_TRY(add_functions(b, err));
    PCI_TRY(add_locations(b, err));
    return pci_build_derived_tables(b, plain, err);
}

static pcol_status order_and_begin_sums(struct preparation *p, pcol_error *err)
{
    p->place_status = order_stacks(p->b, err);
    pci_latch_open(p->placed);
    p->sum_status = p->place_status;
    if (p->sums && p->sum_status == PCOL_OK)
        p->sum_status = pci_function_sums_begin(p->sums, err);
    pci_hash_clear(&p->b->strings.hash); /* the last lookup of a string */
    pci_latch_open(p->begun);
    return p->sum_status;
}

static pcol_status sort_and_convert(struct preparation *p, pcol_error *err)
{
    pcol_builder *b = p->b;
    PCI_TRY(pci_string_pool_sort(&b->strings, err));
    pci_row_index_clear(&b->function_index);
    pci_row_index_clear(&b->group_index);
    pci_latch_wait(p->placed);
    return p->place_status == PCOL_OK ? convert_tables(b, p->plain, err) : PCOL_OK;
}

static pcol_status compute_sums(struct preparation *p, size_t lane, pcol_error *err)
{
    pci_latch_wait(p->begun);
    return p->sum_status == PCOL_OK ? pci_function_sums_add(p->sums, lane, err) : PCOL_OK;
}

/* Task 0 changes stacks and samples; task 1 strings and, after stacks are final, everything else;
 * the others only read stacks and samples. */
static pcol_status run_preparation(void *context, size_t number, pcol_error *err)
{
    return number == 0   ? order_and_begin_sums(context, err)
           : number == 1 ? sort_and_convert(context, err)
                         : compute_sums(context, number - 2, err);
}

static pcol_status prepare_all(struct preparation *p, int quick, pcol_error *err)
{
    pcol_builder *b = p->b;
    b->tables[PCI_T_SOURCES].rows = b->source_count;
    PCI_TRY(pci_label_store_finish(b, err));
    if (!quick)
        PCI_TRY(pci_function_sums_new(b, &p->sums, err));
    p->placed = pci_latch_new();
    p->begun = pci_latch_new();
    if (!p->placed || !p->begun)
        return pci_fail_memory(err);
    size_t lanes = p->sums ? PCI_SUM_LANES : 0;
    PCI_TRY(pci_parallel_for(p->sums ? b->threads : 1, 2 + lanes, run_preparation, p, err));
    return pci_function_sums_finish(p->sums, err);
}

/* quick: the file will be read once at most, so that tables that speed up queries do not pay. */
static pcol_status prepare(pcol_builder *b, int plain, int quick, pcol_error *err)
{
    struct preparation p = {.b = b, .plain = plain};
    pcol_status status = prepare_all(&p, quick, err);
    pci_function_sums_free(p.sums);
    pci_latch_free(p.placed);
    pci_latch_free(p.begun);
    return status;
}

static void plan_free(struct pci_table_plan *plan)
{
    pci_free(plan->table_number);
    pci_free(plan->rows);
    pci_free(plan->columns);
}

static pcol_status write_all(pcol_builder *b, unsigned flags, pcol_sink sink, pcol_error *err)
{
    struct pci_container w;
    struct pci_table_plan plan = {0};
    pcol_status status;
    if (flags & ~(PCOL_WRITE_PLAIN | PCOL_WRITE_QUICK | PCOL_WRITE_ARCHIVE_LZ4 |
                  PCOL_WRITE_ARCHIVE_ZLIB) ||
        (flags & PCOL_WRITE_ARCHIVE ? flags & (PCOL_WRITE_PLAIN | PCOL_WRITE_QUICK)
                                    : flags & (PCOL_WRITE_ARCHIVE_LZ4 | PCOL_WRITE_ARCHIVE_ZLIB)))
        return pci_fail(err, PCOL_E_ARGUMENT, "write flags 0x%x cannot be combined", flags);
    PCI_TRY(pci_builder_check_open(b, err));
    if (b->written)
        return pci_fail(err, PCOL_E_STATE, "the builder has been written before");
    b->written = 1;
    PCI_TRY(pci_budget_check_cells(pci_thread_budget, b->sample_count, b->type_count, err));
    pci_container_init(&w, &b->store);
    w.plain = (flags & PCOL_WRITE_PLAIN) != 0;
    w.quick = (flags & PCOL_WRITE_QUICK) != 0 && !w.plain;
    status = prepare(b, w.plain, w.quick, err);
    if (status == PCOL_OK && flags & PCOL_WRITE_ARCHIVE)
        status = pci_archive_writer_new(flags, &w.archive, err);
    if (status != PCOL_OK)
        goto cleanup;
    plan.table_number = pci_calloc(b->table_count, sizeof *plan.table_number);
    plan.rows = pci_calloc(b->table_count, sizeof *plan.rows);
    plan.columns = pci_malloc(b->column_count, sizeof *plan.columns);
    if (!plan.table_number || !plan.rows || !plan.columns) {
        status = pci_fail_memory(err);
        goto cleanup;
    }
    memset(plan.columns, 0xff, b->column_count * sizeof *plan.columns); /* PCOL_NONE */
    count_rows(b, &plan);
    number_tables(b, &plan);
    status = pci_builder_check_rows(b, plan.rows, err);
    PCI_THEN(status, declare_tables(b, &w, &plan, err));
    PCI_THEN(status, pci_encode_columns(b, &w, &plan, err));
    PCI_THEN(status, pci_container_finish(&w, sink, err));
cleanup:
    plan_free(&plan);
    pci_archive_writer_free(w.archive);
    pci_container_clear(&w);
    b->sealed = "the builder was written and can only be freed";
    return status;
}

/* Allocations are charged to the import budget if the builder has imported profiles. */
static pcol_status write_to(pcol_builder *builder, unsigned flags, const pcol_control *control,
                            pcol_sink sink, pcol_error *err)
{
    PCI_REQUIRE(builder, err);
    struct pci_budget *before =
        pci_budget_enter(builder->budget.used ? &builder->budget : pci_thread_budget);
    struct pci_control scope;
    pcol_status status = pci_control_init(&scope, control, "write", err);
    if (status == PCOL_OK)
        PCI_CONTROLLED(&scope, status, write_all(builder, flags, sink, err), err);
    pci_budget_leave(before);
    return status;
}

pcol_status pcol_builder_write(pcol_builder *builder, unsigned flags, const pcol_control *control,
                               pcol_sink sink, pcol_error *err)
{
    PCI_REQUIRE(sink.write, err);
    return write_to(builder, flags, control, pci_program_sink(&sink), err);
}

/* ---- output to memory ---- */

struct memory {
    uint8_t *data;
    size_t size, capacity;
};

static pcol_status write_memory(void *context, const void *data, size_t size, pcol_error *err)
{
    struct memory *m = context;
    size_t needed = m->size + size;
    if (size > SIZE_MAX - m->size)
        return pci_fail_memory(err);
    if (!m->size && size == sizeof(struct pcf_header)) { /* the header has the size of the file */
        uint64_t whole;
        memcpy(&whole, (const uint8_t *)data + offsetof(struct pcf_header, file_size),
               sizeof whole);
        needed = whole > needed && whole < SIZE_MAX ? (size_t)whole : needed;
    }
    PCI_TRY(PCI_GROW(m->data, m->capacity, needed, err));
    memcpy(m->data + m->size, data, size);
    m->size += size;
    return PCOL_OK;
}

pcol_status pcol_builder_write_memory(pcol_builder *builder, unsigned flags,
                                      const pcol_control *control, void **data, size_t *size,
                                      pcol_error *err)
{
    PCI_REQUIRE(data, err);
    PCI_REQUIRE(size, err);
    *data = NULL;
    *size = 0;
    struct memory m = {0};
    pcol_status status = write_to(builder, flags, control, (pcol_sink){write_memory, &m}, err);
    if (status != PCOL_OK) {
        pci_free(m.data);
        return status;
    }
    *data = m.data;
    *size = m.size;
    return PCOL_OK;
}
