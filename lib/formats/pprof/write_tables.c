/*
 * write_tables.c - mappings, locations and functions of the output
 */
#include "formats/pprof/write.h"

#include "model/frame_names.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { F_MAPPING = 3, F_LOCATION = 4, F_FUNCTION = 5, F_LINE = 4 };
enum { NO_FILE = -1 }; /* pci_pprof_file_line.file of the function without a name */

/* ---- choice of rows and ids ---- */

static pcol_status add_entry(struct pci_pprof_entries *t, uint64_t row, uint64_t id,
                             pcol_error *err)
{
    size_t capacity = (size_t)t->capacity;
    PCI_TRY(PCI_GROW(t->order, capacity, (size_t)t->count + 1, err));
    t->capacity = capacity;
    t->order[t->count++] = (uint32_t)row;
    t->ids[row] = id;
    t->is_listed[row] = 1;
    return PCOL_OK;
}

static int has_id(const struct pci_pprof_entries *t, uint64_t id)
{
    uint64_t hash = pci_hash_pair(id, 0);
    size_t at = pci_hash_start(&t->by_id, hash);
    uint32_t other;
    while ((other = pci_hash_next(&t->by_id, hash, &at)) != PCI_HASH_NONE)
        if (t->ids[t->order[other]] == id)
            return 1;
    return 0;
}

/* Is the id available for another entry? */
static int is_free(const struct pci_pprof_entries *t, uint64_t id)
{
    return (id != 0 || t->allows_zero) && !has_id(t, id);
}

/* Index the entries by id. *is_duplicate: two have the same id, or one has none. */
static pcol_status index_ids(struct pci_pprof_entries *t, int *is_duplicate, pcol_error *err)
{
    *is_duplicate = 0;
    for (; t->indexed_count < t->count && !*is_duplicate; t->indexed_count++) {
        uint64_t id = t->ids[t->order[t->indexed_count]];
        *is_duplicate = !is_free(t, id);
        if (!*is_duplicate)
            PCI_TRY(pci_hash_add(&t->by_id, pci_hash_pair(id, 0), (uint32_t)t->indexed_count, err));
    }
    return PCOL_OK;
}

/* The id of a row in its source; row + 1 if it has none. */
static pcol_status read_id(const struct pci_pprof_export *e, const struct pci_pprof_entries *t,
                           uint64_t row, uint64_t *id, int *has_id_value, pcol_error *err)
{
    int64_t value;
    PCI_TRY(pci_get(e->file, t->id_column, row, &value, has_id_value, err));
    *id = *has_id_value ? (uint64_t)value : row + 1;
    return PCOL_OK;
}

pcol_status pci_pprof_entry_id(const struct pci_pprof_export *e, struct pci_pprof_entries *entries,
                               uint64_t row, uint64_t *id, pcol_error *err)
{
    *id = 0;
    if (row >= entries->rows)
        return pci_fail(err, PCOL_E_CORRUPT, "a reference to row %" PRIu64 " of %" PRIu64, row,
                        entries->rows);
    if (!entries->is_listed[row]) {
        int has_id_value, is_duplicate;
        *id = entries->count + 1;
        if (e->is_native) {
            PCI_TRY(index_ids(entries, &is_duplicate, err));
            PCI_TRY(read_id(e, entries, row, id, &has_id_value, err));
            /* Used by another row: no importer creates such a file. */
            while (!is_free(entries, *id))
                *id = ++entries->last_new_id;
        }
        PCI_TRY(add_entry(entries, row, *id, err));
    }
    *id = entries->ids[row];
    return PCOL_OK;
}

/* Preserve ids. If a row has none (0 usually means absent) or two are equal, which readers reject,
 * number all entries from 1 instead. */
static pcol_status check_ids(struct pci_pprof_entries *t, int is_renumbered, pcol_error *err)
{
    uint64_t previous = 0, at = 0;
    while (at < t->count && t->ids[t->order[at]] > previous)
        previous = t->ids[t->order[at++]];
    if (!is_renumbered && at < t->count) /* ascending ids, the usual case, are distinct */
        PCI_TRY(index_ids(t, &is_renumbered, err));
    if (!is_renumbered)
        return PCOL_OK;
    for (uint64_t i = 0; i < t->count; i++)
        t->ids[t->order[i]] = i + 1;
    pci_hash_clear(&t->by_id);
    t->indexed_count = 0;
    return PCOL_OK;
}

/* List all rows in order. */
static pcol_status list_all_rows(struct pci_pprof_export *e, struct pci_pprof_entries *t,
                                 pcol_error *err)
{
    int is_renumbered = 0, has_id_value;
    uint64_t id;
    for (uint64_t row = 0; row < t->rows; row++) {
        PCI_TRY(read_id(e, t, row, &id, &has_id_value, err));
        is_renumbered = is_renumbered || !has_id_value;
        PCI_TRY(add_entry(t, row, id, err));
    }
    return check_ids(t, is_renumbered, err);
}

static pcol_status list_ordered_rows(struct pci_pprof_export *e, struct pci_pprof_entries *t,
                                     const struct pci_order *order, pcol_error *err)
{
    int is_renumbered = 0, has_id_value;
    for (uint64_t i = 0; i < order->count; i++) {
        uint64_t id = order->ids[i];
        if (t->is_listed[order->rows[i]])
            continue;
        if (!order->has_id[i]) {
            PCI_TRY(read_id(e, t, order->rows[i], &id, &has_id_value, err));
            is_renumbered = is_renumbered || !has_id_value;
        }
        PCI_TRY(add_entry(t, order->rows[i], id, err));
    }
    return check_ids(t, is_renumbered, err);
}

static pcol_status open_entries(struct pci_pprof_export *e, struct pci_pprof_entries *t,
                                const char *table, const char *own, pcol_error *err)
{
    struct pci_order order = {0};
    t->rows = pci_rows(e->file, table);
    PCI_TRY(pci_check_row_count(e->file, table, err));
    PCI_TRY(PCI_CALLOC(t->ids, (size_t)t->rows, err));
    PCI_TRY(PCI_CALLOC(t->is_listed, (size_t)t->rows, err));
    if (!e->is_native)
        return PCOL_OK;
    PCI_TRY(pci_find_column(e->file, table, "id", PCI_TYPES_INT, &t->id_column, err));
    pcol_status status =
        pci_order_read(e->file, e->export->first_source, PCOL_NONE, own, &order, err);
    PCI_THEN(status, order.known ? list_ordered_rows(e, t, &order, err)
                     : e->source_count == 1
                         ? list_all_rows(e, t, err)
                         : PCOL_OK); /* of several sources, one without recorded rows has none */
    pci_order_clear(&order);
    return status;
}

pcol_status pci_pprof_entries_open(struct pci_pprof_export *e, pcol_error *err)
{
    e->functions.allows_zero = 1;
    PCI_TRY(open_entries(e, &e->mappings, "mappings", "mapping", err));
    PCI_TRY(PCI_CALLOC(e->has_functions, (size_t)e->mappings.rows, err));
    PCI_TRY(open_entries(e, &e->groups, "location_groups", "location", err));
    return open_entries(e, &e->functions, "functions", "function", err);
}

/* ---- mappings ---- */

struct columns {
    const struct pci_column *column[12];
};

static pcol_status open_columns(const pcol_file *file, const char *table, const char *const *names,
                                const unsigned *types, size_t count, struct columns *columns,
                                pcol_error *err)
{
    for (size_t i = 0; i < count; i++)
        PCI_TRY(pci_find_column(file, table, names[i], types[i], &columns->column[i], err));
    return PCOL_OK;
}

/* Copy the unknown fields of a row's message to e->unknown_bytes. */
static pcol_status read_unknown_fields(struct pci_pprof_export *e, const struct pci_column *extra,
                                       uint64_t row, uint64_t *root, pcol_error *err)
{
    int64_t value;
    int valid;
    e->unknown_bytes.size = 0;
    *root = PCI_NO_NODE;
    PCI_TRY(pci_get(e->file, extra, row, &value, &valid, err));
    if (!valid || !e->is_native)
        return PCOL_OK;
    *root = (uint64_t)value;
    return pci_pprof_append_unknown(e, *root, "", &e->unknown_bytes, err);
}

/* Copy a cell to an optional field of a message. */
static pcol_status set_number(struct pci_pprof_export *e, const struct pci_column *column,
                              uint64_t row, void *value, protobuf_c_boolean *is_present,
                              pcol_error *err)
{
    int64_t cell;
    int valid;
    PCI_TRY(pci_get(e->file, column, row, &cell, &valid, err));
    memcpy(value, &cell, sizeof cell);
    *is_present = valid && cell != 0;
    return PCOL_OK;
}

static pcol_status set_flag(struct pci_pprof_export *e, const struct pci_column *column,
                            uint64_t row, protobuf_c_boolean *value, protobuf_c_boolean *is_present,
                            pcol_error *err)
{
    int64_t cell;
    int valid;
    PCI_TRY(pci_get(e->file, column, row, &cell, &valid, err));
    *value = *is_present = valid && cell != 0;
    return PCOL_OK;
}

static pcol_status set_text(struct pci_pprof_export *e, const struct pci_column *column,
                            uint64_t row, int64_t *index, protobuf_c_boolean *is_present,
                            pcol_error *err)
{
    PCI_TRY(pci_pprof_cell_index(e, column, row, index, err));
    *is_present = *index != 0;
    return PCOL_OK;
}

static pcol_status put_mapping(struct pci_pprof_export *e, const struct columns *c, uint64_t row,
                               pcol_error *err)
{
    PciPprof__Mapping m = PCI_PPROF__MAPPING__INIT;
    uint64_t root;
    m.id = e->mappings.ids[row];
    m.has_id = m.id != 0;
    PCI_TRY(set_number(e, c->column[0], row, &m.memory_start, &m.has_memory_start, err));
    PCI_TRY(set_number(e, c->column[1], row, &m.memory_limit, &m.has_memory_limit, err));
    PCI_TRY(set_number(e, c->column[2], row, &m.file_offset, &m.has_file_offset, err));
    PCI_TRY(set_text(e, c->column[3], row, &m.filename, &m.has_filename, err));
    PCI_TRY(set_text(e, c->column[4], row, &m.build_id, &m.has_build_id, err));
    PCI_TRY(set_flag(e, c->column[5], row, &m.has_functions, &m.has_has_functions, err));
    if (e->has_functions[row])
        m.has_functions = m.has_has_functions = 1;
    PCI_TRY(set_flag(e, c->column[6], row, &m.has_filenames, &m.has_has_filenames, err));
    PCI_TRY(set_flag(e, c->column[7], row, &m.has_line_numbers, &m.has_has_line_numbers, err));
    PCI_TRY(set_flag(e, c->column[8], row, &m.has_inline_frames, &m.has_has_inline_frames, err));
    PCI_TRY(read_unknown_fields(e, c->column[9], row, &root, err));
    return pci_pprof_put(&e->w, F_MAPPING, &m.base, e->unknown_bytes.data, e->unknown_bytes.size,
                         err);
}

/* Write the mappings that are listed and not yet written. */
static pcol_status put_mappings(struct pci_pprof_export *e, uint64_t *written, pcol_error *err)
{
    static const char *const names[] = {
        "start",         "limit",         "file_offset",      "filename",          "build_id",
        "has_functions", "has_filenames", "has_line_numbers", "has_inline_frames", "extra"};
    static const unsigned types[] = {PCI_TYPES_INT,      PCI_TYPES_INT,      PCI_TYPES_INT,
                                     PCI_TYPES_TEXT,     PCI_TYPES_TEXT,     PCI_TYPE(PCF_BOOL),
                                     PCI_TYPE(PCF_BOOL), PCI_TYPE(PCF_BOOL), PCI_TYPE(PCF_BOOL),
                                     PCI_TYPES_ROW};
    struct columns c;
    PCI_TRY(open_columns(e->file, "mappings", names, types, 10, &c, err));
    for (; *written < e->mappings.count; ++*written)
        PCI_TRY(put_mapping(e, &c, e->mappings.order[*written], err));
    return PCOL_OK;
}

/* ---- locations ---- */

struct location_columns {
    struct pci_stacks tree; /* for the locations of a group */
    const struct pci_column *mapping, *address, *folded, *extra;
    const struct pci_column *function, *line, *column, *filename;
};

/* A location group that is written. */
struct location {
    int64_t mapping; /* row, or -1 */
    int is_code;     /* it has a mapping or an address */
    uint64_t row;
    uint64_t root; /* of its unknown fields */
};

/* Find or add a function for a line without one, since a line of pprof requires one; its id is
 * after those of the rows of functions. The name of code outside functions is the displayed name of
 * the frame. Lines of code with a mapping or an address have one function without a name for each
 * file, and lines without a file one in common, which leaves them their displayed names. */
static pcol_status find_toplevel_function(struct pci_pprof_export *e,
                                          const struct location_columns *c, uint64_t row,
                                          const struct location *location, uint64_t *id,
                                          pcol_error *err)
{
    int is_code = location->is_code;
    struct pci_pprof_file_line code = {.row = row, .group = location->row, .is_code = is_code};
    int valid;
    PCI_TRY(pci_get(e->file, c->filename, row, &code.file, &valid, err));
    if (!valid)
        code.file = NO_FILE;
    else if (!is_code)
        PCI_TRY(pci_get(e->file, c->line, row, &code.line, &code.has_line, err));
    uint64_t hash = pci_hash_pair((uint64_t)code.file, (uint64_t)code.line);
    size_t at = pci_hash_start(&e->toplevel_hash, hash), count = e->toplevel_hash.count;
    uint32_t k;
    while ((k = pci_hash_next(&e->toplevel_hash, hash, &at)) != PCI_HASH_NONE)
        if (e->toplevel_code[k].file == code.file && e->toplevel_code[k].line == code.line &&
            e->toplevel_code[k].has_line == code.has_line &&
            (e->toplevel_code[k].is_code == is_code || code.file == NO_FILE)) {
            *id = e->functions.rows + k + 1;
            return PCOL_OK;
        }
    PCI_TRY(PCI_GROW(e->toplevel_code, e->toplevel_capacity, count + 1, err));
    e->toplevel_code[count] = code;
    *id = e->functions.rows + count + 1;
    return pci_hash_add(&e->toplevel_hash, hash, (uint32_t)count, err);
}

static pcol_status find_file(struct pci_pprof_export *e, const struct location_columns *c,
                             uint64_t row, pcol_error *err)
{
    int64_t file;
    int valid;
    PCI_TRY(pci_get(e->file, c->filename, row, &file, &valid, err));
    e->lost |= valid ? PCI_PPROF_LOSS_FILES : 0u;
    return PCOL_OK;
}

static pcol_status append_line(struct pci_pprof_export *e, const struct location_columns *c,
                               uint64_t row, uint64_t index, const struct location *location,
                               struct pci_strbuf *line_unknown, pcol_error *err)
{
    PciPprof__Line l = PCI_PPROF__LINE__INIT;
    char path[32];
    int64_t function;
    int valid;
    PCI_TRY(pci_get(e->file, c->function, row, &function, &valid, err));
    if (valid)
        PCI_TRY(pci_pprof_entry_id(e, &e->functions, (uint64_t)function, &l.function_id, err));
    else if (!e->is_native)
        PCI_TRY(find_toplevel_function(e, c, row, location, &l.function_id, err));
    else if (c->filename) /* no pprof profile has one */
        PCI_TRY(find_file(e, c, row, err));
    if (valid && location->mapping >= 0 && !e->is_native)
        e->has_functions[location->mapping] = 1;
    l.has_function_id = l.function_id != 0;
    PCI_TRY(set_number(e, c->line, row, &l.line, &l.has_line, err));
    PCI_TRY(set_number(e, c->column, row, &l.column, &l.has_column, err));
    line_unknown->size = 0;
    if (location->root != PCI_NO_NODE) {
        snprintf(path, sizeof path, "4.%" PRIu64 ".", index);
        PCI_TRY(pci_pprof_append_unknown(e, location->root, path, line_unknown, err));
    }
    return pci_pprof_append(&e->unknown_bytes, F_LINE, &l.base, line_unknown, err);
}

/* Is the row empty? It is the only location of a group without lines. */
static pcol_status is_empty_line(struct pci_pprof_export *e, const struct location_columns *c,
                                 uint64_t row, int *is_empty, pcol_error *err)
{
    const struct pci_column *columns[] = {c->function, c->line, c->column, c->filename};
    int64_t ignored;
    int valid = 0;
    for (size_t i = 0; i < 4 && !valid; i++)
        PCI_TRY(pci_get(e->file, columns[i], row, &ignored, &valid, err));
    *is_empty = !valid;
    return PCOL_OK;
}

static pcol_status put_location(struct pci_pprof_export *e, const struct location_columns *c,
                                uint64_t row, struct pci_strbuf *line_unknown, pcol_error *err)
{
    PciPprof__Location l = PCI_PPROF__LOCATION__INIT;
    struct location location = {.row = row};
    uint64_t first, count;
    int64_t address;
    int valid, has_mapping, is_empty = 0;
    l.id = e->groups.ids[row];
    l.has_id = l.id != 0;
    PCI_TRY(pci_get(e->file, c->mapping, row, &location.mapping, &has_mapping, err));
    if (has_mapping)
        PCI_TRY(
            pci_pprof_entry_id(e, &e->mappings, (uint64_t)location.mapping, &l.mapping_id, err));
    else
        location.mapping = -1;
    l.has_mapping_id = l.mapping_id != 0;
    PCI_TRY(pci_get(e->file, c->address, row, &address, &valid, err));
    location.is_code = has_mapping || valid;
    l.address = (uint64_t)address;
    l.has_address = valid && address;
    e->lost |= valid && !address ? PCI_PPROF_LOSS_ADDRESS : 0u;
    PCI_TRY(set_flag(e, c->folded, row, &l.is_folded, &l.has_is_folded, err));
    PCI_TRY(read_unknown_fields(e, c->extra, row, &location.root, err));
    PCI_TRY(pci_stacks_group(&c->tree, row, &first, &count, err));
    if (count == 1)
        PCI_TRY(is_empty_line(e, c, first, &is_empty, err));
    for (uint64_t i = 0; i < count && !is_empty; i++)
        PCI_TRY(append_line(e, c, first + i, i, &location, line_unknown, err));
    return pci_pprof_put(&e->w, F_LOCATION, &l.base, e->unknown_bytes.data, e->unknown_bytes.size,
                         err);
}

static pcol_status put_locations(struct pci_pprof_export *e, struct pci_strbuf *line_unknown,
                                 pcol_error *err)
{
    struct location_columns c;
    PCI_TRY(pci_stacks_open(e->file, &c.tree, err));
    PCI_TRY(pci_find_column(e->file, "location_groups", "mapping", PCI_TYPES_ROW, &c.mapping, err));
    PCI_TRY(pci_find_column(e->file, "location_groups", "address", PCI_TYPES_INT, &c.address, err));
    PCI_TRY(
        pci_find_column(e->file, "location_groups", "folded", PCI_TYPE(PCF_BOOL), &c.folded, err));
    PCI_TRY(pci_find_column(e->file, "location_groups", "extra", PCI_TYPES_ROW, &c.extra, err));
    PCI_TRY(pci_find_column(e->file, "locations", "function", PCI_TYPES_ROW, &c.function, err));
    PCI_TRY(pci_find_column(e->file, "locations", "line", PCI_TYPES_INT, &c.line, err));
    PCI_TRY(pci_find_column(e->file, "locations", "column", PCI_TYPES_INT, &c.column, err));
    PCI_TRY(
        pci_find_column(e->file, "locations", "filename", PCI_TYPE(PCF_STRING), &c.filename, err));
    for (uint64_t i = 0; i < e->groups.count; i++)
        PCI_TRY(put_location(e, &c, e->groups.order[i], line_unknown, err));
    return PCOL_OK;
}

/* ---- functions ---- */

/* Mangled C++ and Rust names: pprof demangles them if they are the system_name. */
static int is_mangled(pcol_str name)
{
    static const char *const starts[] = {"_Z", "__Z", "_R"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        size_t size = strlen(starts[i]);
        if (name.size > size && !memcmp(name.data, starts[i], size))
            return 1;
    }
    return 0;
}

/* Omit a redundant system_name: pprof would demangle it and remove everything in <>, so that
 * nothing remains of R's <GC>. Names in <> always, others only without sources from pprof. */
static pcol_status drop_same_name(const struct pci_pprof_export *e, const struct pci_column *name,
                                  uint64_t row, PciPprof__Function *f, pcol_error *err)
{
    pcol_str text = {"", 0};
    int valid = 0;
    if (e->is_native || f->system_name != f->name || !name)
        return PCOL_OK;
    PCI_TRY(pci_get_str(e->file, name, row, &text, &valid, err));
    int all_cut = text.size && text.data[0] == '<' && text.data[text.size - 1] == '>';
    if (all_cut || (!e->has_pprof_source && !is_mangled(text))) {
        f->system_name = 0;
        f->has_system_name = 0;
    }
    return PCOL_OK;
}

static pcol_status put_function(struct pci_pprof_export *e, const struct columns *c, uint64_t row,
                                pcol_error *err)
{
    PciPprof__Function f = PCI_PPROF__FUNCTION__INIT;
    uint64_t root;
    int64_t system_name;
    int named;
    f.id = e->functions.ids[row];
    f.has_id = f.id != 0;
    PCI_TRY(set_text(e, c->column[0], row, &f.name, &f.has_name, err));
    PCI_TRY(pci_get(e->file, c->column[1], row, &system_name, &named, err));
    PCI_TRY(set_text(e, named ? c->column[1] : c->column[0], row, &f.system_name,
                     &f.has_system_name, err));
    PCI_TRY(drop_same_name(e, c->column[0], row, &f, err));
    PCI_TRY(set_text(e, c->column[2], row, &f.filename, &f.has_filename, err));
    PCI_TRY(set_number(e, c->column[3], row, &f.start_line, &f.has_start_line, err));
    PCI_TRY(read_unknown_fields(e, c->column[4], row, &root, err));
    return pci_pprof_put(&e->w, F_FUNCTION, &f.base, e->unknown_bytes.data, e->unknown_bytes.size,
                         err);
}

static pcol_status put_toplevel_function(struct pci_pprof_export *e, struct pci_frame_namer *names,
                                         size_t k, pcol_error *err)
{
    PciPprof__Function f = PCI_PPROF__FUNCTION__INIT;
    struct pci_name name;
    const struct pci_pprof_file_line *code = &e->toplevel_code[k];
    if (code->file != NO_FILE) {
        PCI_TRY(pci_frame_namer_get(names, code->row, (uint32_t)code->group, &name, err));
        PCI_TRY(pci_pprof_index(&e->w, name.filename, &f.filename, err));
    }
    if (code->file != NO_FILE && !code->is_code) {
        e->lost |= PCI_PPROF_LOSS_OUTSIDE;
        PCI_TRY(pci_pprof_index_text(&e->w, name.name.data, name.name.size, &f.name, err));
    }
    f.id = e->functions.rows + k + 1;
    f.has_id = 1;
    f.has_name = f.name != 0;
    f.has_filename = f.filename != 0;
    return pci_pprof_put(&e->w, F_FUNCTION, &f.base, NULL, 0, err);
}

static pcol_status put_toplevel_functions(struct pci_pprof_export *e, pcol_error *err)
{
    struct pci_frame_namer names;
    if (!e->toplevel_hash.count)
        return PCOL_OK;
    pcol_status status = pci_frame_namer_open(&names, e->file, err);
    for (size_t k = 0; k < e->toplevel_hash.count && status == PCOL_OK; k++)
        status = put_toplevel_function(e, &names, k, err);
    pci_frame_namer_close(&names);
    return status;
}

static pcol_status put_functions(struct pci_pprof_export *e, pcol_error *err)
{
    static const char *const names[] = {"name", "system_name", "filename", "start_line", "extra"};
    static const unsigned types[] = {PCI_TYPES_TEXT, PCI_TYPES_TEXT, PCI_TYPES_TEXT, PCI_TYPES_INT,
                                     PCI_TYPES_ROW};
    struct columns c;
    PCI_TRY(open_columns(e->file, "functions", names, types, 5, &c, err));
    for (uint64_t i = 0; i < e->functions.count; i++)
        PCI_TRY(put_function(e, &c, e->functions.order[i], err));
    return put_toplevel_functions(e, err);
}

/* Mappings and functions that are not listed get their ids from locations. */
pcol_status pci_pprof_put_tables(struct pci_pprof_export *e, pcol_error *err)
{
    struct pci_strbuf line_unknown = {0};
    uint64_t mappings = 0;
    pcol_status status = put_mappings(e, &mappings, err);
    PCI_THEN(status, put_locations(e, &line_unknown, err));
    pci_strbuf_clear(&line_unknown);
    PCI_THEN(status, put_mappings(e, &mappings, err));
    PCI_THEN(status, put_functions(e, err));
    return status;
}
