/*
 * tables.c - import of mappings, functions and locations
 *
 * Every entry becomes a row in the order of the source, referenced or not. Entries equal except for
 * their id stay separate rows (by a variant number), so that ids survive a round trip.
 */
#include "formats/pprof/read.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <string.h>

/* Base of variant numbers of rows with unknown fields, which equal no other row: plus the number of
 * rows of the table. */
#define DISTINCT_VARIANT UINT32_C(0x40000000)

enum { T_MAPPING, T_FUNCTION, T_LOCATION };
static const char *const source_tables[] = {"mapping", "function", "location"};
static const uint32_t target_tables[] = {PCI_T_MAPPINGS, PCI_T_FUNCTIONS, PCI_T_GROUPS};

/* ---- rows of this source ---- */

/* Record row and id of an entry, if the builder had sources before. */
static pcol_status record_row(struct pci_pprof_reader *r, int table_index, uint32_t row,
                              uint64_t id, pcol_error *err)
{
    struct pci_source_row entry = {.source = r->import->source,
                                   .thread = PCOL_NONE,
                                   .table = r->source_table_names[table_index],
                                   .target = target_tables[table_index] + 1,
                                   .has_id = 1,
                                   .ordinal = r->ordinals[table_index]++,
                                   .row = row,
                                   .id = id};
    return r->import->source ? pci_builder_source_row(r->b, &entry, err) : PCOL_OK;
}

/* Record that the tables of the first source are the first rows. */
static pcol_status record_table(struct pci_pprof_reader *r, int table_index, uint64_t count,
                                pcol_error *err)
{
    struct pci_source_row first = {.source = r->import->source,
                                   .thread = PCOL_NONE,
                                   .table = r->source_table_names[table_index],
                                   .target = target_tables[table_index] + 1};
    if (r->import->source || !count)
        return PCOL_OK;
    return pci_builder_source_table(r->b, &first, count, err);
}

static pcol_status store_unknown(struct pci_pprof_reader *r, uint32_t table, uint64_t row,
                                 pcol_error *err)
{
    uint64_t root = PCI_NO_NODE;
    PCI_TRY(pci_pprof_flush_unknown(&r->unknown, r->b, &root, err));
    return root == PCI_NO_NODE ? PCOL_OK : pci_builder_extra(r->b, table, row, root, err);
}

static pcol_status add_id(struct pci_pprof_ids *ids, const struct pci_pprof_message *m, uint64_t id,
                          uint32_t row, pcol_error *err)
{
    int is_new;
    PCI_TRY(pci_pprof_ids_add(ids, id, row, &is_new, err));
    if (is_new)
        return PCOL_OK;
    return pci_fail_at_byte(err, PCOL_E_SYNTAX, m->offset, "%s.id %" PRIu64 " occurs twice",
                            m->name, id);
}

static pcol_status fail_zero_id(const struct pci_pprof_message *m, pcol_error *err)
{
    return pci_fail_at_byte(err, PCOL_E_SYNTAX, m->offset, "%s.id is 0, which means absent",
                            m->name);
}

/* ---- mappings ---- */

enum { M_ID = 1, M_START, M_LIMIT, M_OFFSET, M_FILENAME, M_BUILD_ID, M_FLAGS, M_COUNT = 10 };

static pcol_status add_mapping_columns(struct pci_pprof_reader *r, pcol_error *err)
{
    static const struct {
        const char *name;
        pcol_type type;
        uint8_t drop;
    } columns[M_COUNT] = {{"id", PCOL_U64, PCI_DROP_NULL},
                          {"start", PCOL_U64, PCI_DROP_ZERO},
                          {"limit", PCOL_U64, PCI_DROP_ZERO},
                          {"file_offset", PCOL_U64, PCI_DROP_ZERO},
                          {"filename", PCOL_STRING, PCI_DROP_NULL},
                          {"build_id", PCOL_STRING, PCI_DROP_NULL},
                          {"has_functions", PCOL_BOOL, PCI_DROP_ZERO},
                          {"has_filenames", PCOL_BOOL, PCI_DROP_ZERO},
                          {"has_line_numbers", PCOL_BOOL, PCI_DROP_ZERO},
                          {"has_inline_frames", PCOL_BOOL, PCI_DROP_ZERO}};
    for (size_t i = 0; i < M_COUNT; i++) {
        PCI_TRY(pci_builder_column(r->b, PCI_T_MAPPINGS, columns[i].name, columns[i].type, 0,
                                   &r->mapping_columns[i], err));
        r->b->columns[r->mapping_columns[i]]->drop = columns[i].drop;
    }
    return PCOL_OK;
}

static pcol_status read_mapping(struct pci_pprof_reader *r, struct pci_pprof_message *m,
                                pcol_error *err)
{
    struct pci_column_buffer *ids = r->b->columns[r->mapping_columns[0]];
    struct pci_cell_value cells[M_COUNT] = {{0}};
    uint64_t values[M_COUNT + 1];
    uint32_t row, string;
    unsigned seen;
    int is_new;
    PCI_TRY(pci_pprof_read_numbers(m, M_COUNT, values, &seen, PCI_PB_ROW, &r->unknown, err));
    if (!values[M_ID])
        return fail_zero_id(m, err);
    for (unsigned i = 1; i <= M_COUNT; i++) {
        cells[i - 1] = (struct pci_cell_value){(int64_t)values[i], 1};
        if (i >= M_FLAGS)
            cells[i - 1].bits = values[i] != 0;
    }
    for (unsigned i = M_FILENAME; i <= M_BUILD_ID; i++) {
        PCI_TRY(pci_pprof_string(r, values[i], m, i, &string, err));
        cells[i - 1] =
            (struct pci_cell_value){string == PCOL_NONE ? 0 : string, string != PCOL_NONE};
    }
    if (r->unknown.count)
        PCI_TRY(pci_builder_intern(r->b, PCI_T_MAPPINGS, r->mapping_columns + 1, cells + 1,
                                   M_COUNT - 1, DISTINCT_VARIANT + (uint32_t)ids->rows, &row,
                                   &is_new, err));
    else
        PCI_TRY(pci_builder_intern_distinct(r->b, PCI_T_MAPPINGS, r->mapping_columns + 1, cells + 1,
                                            M_COUNT - 1, &row, &is_new, err));
    if (is_new) /* the id does not distinguish rows */
        PCI_TRY(pci_column_buffer_set(ids, row, (int64_t)values[M_ID], err));
    PCI_TRY(store_unknown(r, PCI_T_MAPPINGS, row, err));
    PCI_TRY(record_row(r, T_MAPPING, row, values[M_ID], err));
    return add_id(&r->mapping_ids, m, values[M_ID], row, err);
}

/* ---- functions ---- */

static pcol_status read_function(struct pci_pprof_reader *r, struct pci_pprof_message *m,
                                 pcol_error *err)
{
    enum { ID = 1, NAME, SYSTEM_NAME, FILENAME, START_LINE };
    pcol_function f = PCOL_INIT(pcol_function);
    uint64_t values[START_LINE + 1];
    uint32_t row;
    unsigned seen;
    PCI_TRY(pci_pprof_read_numbers(m, START_LINE, values, &seen, PCI_PB_ROW, &r->unknown, err));
    if (!values[ID]) {
        if (!r->import->options->lenient)
            return pci_error_option(err, "lenient", fail_zero_id(m, err));
        r->zero_functions++;
    }
    PCI_TRY(pci_pprof_string(r, values[NAME], m, NAME, &f.name, err));
    PCI_TRY(pci_pprof_string(r, values[SYSTEM_NAME], m, SYSTEM_NAME, &f.system_name, err));
    PCI_TRY(pci_pprof_string(r, values[FILENAME], m, FILENAME, &f.filename, err));
    if (f.name == PCOL_NONE)
        PCI_TRY(pcol_builder_string(r->b, "", 0, &f.name, err));
    if (f.system_name == PCOL_NONE)
        PCI_TRY(pcol_builder_string(r->b, "", 0, &f.system_name, err));
    pci_set_flag(&f.flags, PCOL_FUNCTION_HAS_START_LINE, values[START_LINE] != 0);
    f.start_line = (int64_t)values[START_LINE];
    f.flags |= PCOL_FUNCTION_HAS_ID;
    f.id = values[ID];
    f.variant = DISTINCT_VARIANT + (uint32_t)r->b->function_count;
    PCI_TRY(pci_builder_function(r->b, !r->unknown.count, &f, NULL, NULL, 0, &row, NULL, err));
    PCI_TRY(store_unknown(r, PCI_T_FUNCTIONS, row, err));
    PCI_TRY(record_row(r, T_FUNCTION, row, f.id, err));
    return add_id(&r->function_ids, m, f.id, row, err);
}

/* ---- locations ---- */

/* Read a line of a location; `count` is its index. */
static pcol_status read_line(struct pci_pprof_reader *r, struct pci_pprof_message m, size_t count,
                             uint64_t location, pcol_error *err)
{
    enum { FUNCTION = 1, LINE, COLUMN };
    uint64_t values[COLUMN + 1];
    unsigned seen;
    pcol_line *line;
    PCI_TRY(pci_pprof_read_numbers(&m, COLUMN, values, &seen, (struct pci_pprof_path){4, count},
                                   &r->unknown, err));
    PCI_TRY(PCI_GROW(r->lines, r->line_capacity, count + 1, err));
    line = &r->lines[count];
    *line = (pcol_line){.function = pci_pprof_ids_find(&r->function_ids, values[FUNCTION]),
                        .filename = PCOL_NONE,
                        .line = (int64_t)values[LINE],
                        .column = (int64_t)values[COLUMN],
                        .flags = (values[LINE] ? PCOL_LINE_HAS_LINE : 0) |
                                 (values[COLUMN] ? PCOL_LINE_HAS_COLUMN : 0)};
    if (line->function != PCOL_NONE)
        return PCOL_OK;
    if (values[FUNCTION] || !r->import->options->lenient)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, m.offset,
                                "Line.function_id %" PRIu64 " of location %" PRIu64
                                ": the function does not exist",
                                values[FUNCTION], location);
    /* A line number, even 0, distinguishes a line without function from no line. */
    line->flags |= PCOL_LINE_HAS_LINE;
    r->zero_lines++;
    return PCOL_OK;
}

struct location {
    uint64_t id, mapping, address, folded;
    size_t line_count;
};

static pcol_status read_location_fields(struct pci_pprof_reader *r, struct pci_pprof_message *m,
                                        struct location *l, pcol_error *err)
{
    enum { ID = 1, MAPPING_ID, ADDRESS, LINE, IS_FOLDED };
    struct pci_pprof_field field;
    uint64_t values[IS_FOLDED + 1] = {0};
    struct pci_pprof_message lines = *m; /* read in a second pass: errors contain the id */
    while (m->p < m->end) {
        PCI_TRY(pci_pprof_next(m, &field, err));
        if (field.number < ID || field.number > IS_FOLDED)
            PCI_TRY(pci_pprof_add_unknown(&r->unknown, PCI_PB_ROW, m, &field, err));
        else if (field.type != (field.number == LINE ? PCI_PB_BYTES : PCI_PB_VARINT))
            return pci_pprof_wrong_type(m, &field, err);
        else
            values[field.number] = field.value;
    }
    *l = (struct location){values[ID], values[MAPPING_ID], values[ADDRESS], values[IS_FOLDED], 0};
    if (!l->id)
        return fail_zero_id(m, err);
    while (lines.p < lines.end) {
        PCI_TRY(pci_pprof_next(&lines, &field, err));
        if (field.number == LINE)
            PCI_TRY(
                read_line(r, pci_pprof_inner("Line", &lines, &field), l->line_count++, l->id, err));
    }
    return PCOL_OK;
}

/* Preserve a mapping id without a mapping as an unknown field; like pprof, treat it as absent. */
static pcol_status preserve_dangling_id(struct pci_pprof_reader *r,
                                        const struct pci_pprof_message *m, pcol_error *err)
{
    struct pci_pprof_message again = *m, dangling = *m;
    struct pci_pprof_field field, last = {0};
    again.p = again.begin;
    while (again.p < again.end) {
        PCI_TRY(pci_pprof_next(&again, &field, err));
        if (field.number == 2)
            last = field, dangling.p = again.p;
    }
    return pci_pprof_add_unknown(&r->unknown, PCI_PB_ROW, &dangling, &last, err);
}

static pcol_status read_location(struct pci_pprof_reader *r, struct pci_pprof_message *m,
                                 pcol_error *err)
{
    pcol_group g = PCOL_INIT(pcol_group);
    struct location l = {0};
    uint32_t row;
    PCI_TRY(read_location_fields(r, m, &l, err));
    g.lines = r->lines;
    g.line_count = l.line_count;
    g.mapping = l.mapping ? pci_pprof_ids_find(&r->mapping_ids, l.mapping) : PCOL_NONE;
    if (l.mapping && g.mapping == PCOL_NONE)
        PCI_TRY(preserve_dangling_id(r, m, err));
    pci_set_flag(&g.flags, PCOL_GROUP_HAS_ADDRESS, l.address != 0);
    g.address = l.address;
    pci_set_flag(&g.flags, PCOL_GROUP_FOLDED, l.folded != 0);
    g.flags |= PCOL_GROUP_HAS_ID;
    g.id = l.id;
    g.variant = DISTINCT_VARIANT + (uint32_t)r->b->group_count;
    PCI_TRY(pci_builder_group(r->b, !r->unknown.count, &g, NULL, NULL, 0, &row, NULL, err));
    PCI_TRY(store_unknown(r, PCI_T_GROUPS, row, err));
    PCI_TRY(record_row(r, T_LOCATION, row, l.id, err));
    return add_id(&r->location_ids, m, l.id, row, err);
}

/* ---- import of all tables ---- */

static pcol_status read_all(struct pci_pprof_reader *r, struct pci_pprof_queue *queue,
                            struct pci_pprof_ids *ids,
                            pcol_status (*read)(struct pci_pprof_reader *r,
                                                struct pci_pprof_message *m, pcol_error *err),
                            pcol_error *err)
{
    struct pci_pprof_message m;
    PCI_TRY(pci_pprof_ids_init(ids, queue->count, err));
    for (int end;;) {
        PCI_TRY(pci_pprof_queue_take(queue, &m, &end, err));
        if (end)
            break;
        PCI_TRY(read(r, &m, err));
    }
    pci_spill_clear(&queue->spill);
    return PCOL_OK;
}

pcol_status pci_pprof_read_tables(struct pci_pprof_reader *r, pcol_error *err)
{
    struct pci_pprof_queue *queues[] = {&r->mappings, &r->functions, &r->locations};
    struct pci_pprof_ids *ids[] = {&r->mapping_ids, &r->function_ids, &r->location_ids};
    pcol_status (*const read[])(struct pci_pprof_reader *, struct pci_pprof_message *,
                                pcol_error *) = {read_mapping, read_function, read_location};
    PCI_TRY(add_mapping_columns(r, err));
    for (int i = 0; i < 3; i++) {
        PCI_TRY(pcol_builder_string(r->b, source_tables[i], strlen(source_tables[i]),
                                    &r->source_table_names[i], err));
        PCI_TRY(read_all(r, queues[i], ids[i], read[i], err));
        PCI_TRY(record_table(r, i, queues[i]->count, err));
    }
    if (r->zero_functions || r->zero_lines)
        pci_import_message("id 0, which means absent, accepted for functions: functions %" PRIu32
                           ", lines without a function %" PRIu64,
                           r->zero_functions, r->zero_lines);
    return PCOL_OK;
}
