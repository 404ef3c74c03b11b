/*
 * write_tables.c - mappings, locations and functions of a profile that is written
 */
#include "formats/pprof/write.h"

#include "model/frame_names.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { F_MAPPING = 3, F_LOCATION = 4, F_FUNCTION = 5, F_LINE = 4 };

/* ---- which rows, under which ids ---- */

static pcol_status add_entry(struct pci_pprof_entries *t, uint64_t row, uint64_t id,
                             pcol_error *err)
{
    size_t capacity = (size_t)t->capacity;
    if (pci_grow((void **)&t->order, &capacity, (size_t)t->count + 1, sizeof *t->order))
        return pci_fail_memory(err);
    t->capacity = capacity;
    t->order[t->count++] = (uint32_t)row;
    t->ids[row] = id;
    t->listed[row] = 1;
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

/* May it be the id of one more entry? */
static int is_free(const struct pci_pprof_entries *t, uint64_t id)
{
    return (id != 0 || t->takes_zero) && !has_id(t, id);
}

/* Make the entries up to now known by their ids; *taken: two have the same, or one has none. */
static pcol_status know_ids(struct pci_pprof_entries *t, int *taken, pcol_error *err)
{
    *taken = 0;
    for (; t->known < t->count && !*taken; t->known++) {
        uint64_t id = t->ids[t->order[t->known]];
        *taken = !is_free(t, id);
        if (!*taken)
            PCI_TRY(pci_hash_add(&t->by_id, pci_hash_pair(id, 0), (uint32_t)t->known, err));
    }
    return PCOL_OK;
}

/* The id that a row has of its own; its number from 1 where it has none. */
static pcol_status own_id(const struct pci_pprof_export *e, const struct pci_pprof_entries *t,
                          uint64_t row, uint64_t *id, int *has, pcol_error *err)
{
    int64_t value;
    PCI_TRY(pci_pprof_cell(e->file, t->own_ids, row, &value, has, err));
    *id = *has ? (uint64_t)value : row + 1;
    return PCOL_OK;
}

pcol_status pci_pprof_entry_id(const struct pci_pprof_export *e, struct pci_pprof_entries *entries,
                               uint64_t row, uint64_t *id, pcol_error *err)
{
    *id = 0;
    if (row >= entries->rows)
        return pci_fail(err, PCOL_E_CORRUPT, "a reference to row %" PRIu64 " of %" PRIu64, row,
                        entries->rows);
    if (!entries->listed[row]) {
        int has, taken;
        *id = entries->count + 1;
        if (e->exact) {
            PCI_TRY(know_ids(entries, &taken, err));
            PCI_TRY(own_id(e, entries, row, id, &has, err));
            while (!is_free(entries, *id)) /* another row's: no importer makes such a file */
                *id = ++entries->spare;
        }
        PCI_TRY(add_entry(entries, row, *id, err));
    }
    *id = entries->ids[row];
    return PCOL_OK;
}

/* Ids stay as they are, but where a row has none (0 mostly is none), or two have the same, which no
 * reader would take: then all are counted. */
static pcol_status settle_ids(struct pci_pprof_entries *t, int counted, pcol_error *err)
{
    uint64_t before = 0, at = 0;
    while (at < t->count && t->ids[t->order[at]] > before)
        before = t->ids[t->order[at++]];
    if (!counted && at < t->count) /* they do not rise, as they mostly do */
        PCI_TRY(know_ids(t, &counted, err));
    if (!counted)
        return PCOL_OK;
    for (uint64_t i = 0; i < t->count; i++)
        t->ids[t->order[i]] = i + 1;
    pci_hash_clear(&t->by_id);
    t->known = 0;
    return PCOL_OK;
}

/* All rows in order, under their ids. */
static pcol_status all_rows(struct pci_pprof_export *e, struct pci_pprof_entries *t,
                            pcol_error *err)
{
    int counted = 0, has;
    uint64_t id;
    for (uint64_t row = 0; row < t->rows; row++) {
        PCI_TRY(own_id(e, t, row, &id, &has, err));
        counted = counted || !has;
        PCI_TRY(add_entry(t, row, id, err));
    }
    return settle_ids(t, counted, err);
}

static pcol_status ordered_rows(struct pci_pprof_export *e, struct pci_pprof_entries *t,
                                const struct pci_order *order, pcol_error *err)
{
    int counted = 0, has;
    for (uint64_t i = 0; i < order->count; i++) {
        uint64_t id = order->ids[i];
        if (t->listed[order->rows[i]])
            continue;
        if (!order->has_id[i]) {
            PCI_TRY(own_id(e, t, order->rows[i], &id, &has, err));
            counted = counted || !has;
        }
        PCI_TRY(add_entry(t, order->rows[i], id, err));
    }
    return settle_ids(t, counted, err);
}

static pcol_status open_entries(struct pci_pprof_export *e, struct pci_pprof_entries *t,
                                const char *table, const char *own, pcol_error *err)
{
    struct pci_order order = {0};
    t->rows = pci_rows(e->file, table);
    PCI_TRY(pci_plausible(e->file, table, err));
    t->ids = pci_calloc((size_t)t->rows, sizeof *t->ids);
    t->listed = pci_calloc((size_t)t->rows, 1);
    if (!t->ids || !t->listed)
        return pci_fail_memory(err);
    if (!e->exact)
        return PCOL_OK;
    PCI_TRY(pci_want(e->file, table, "id", PCI_TYPES_INT, &t->own_ids, err));
    pcol_status status =
        pci_order_of(e->file, e->export->first_source, PCOL_NONE, own, &order, err);
    if (status == PCOL_OK)
        status = order.known ? ordered_rows(e, t, &order, err)
                 : e->source_count == 1
                     ? all_rows(e, t, err)
                     : PCOL_OK; /* beside others, a table without rows is empty */
    pci_order_clear(&order);
    return status;
}

pcol_status pci_pprof_entries_open(struct pci_pprof_export *e, pcol_error *err)
{
    e->functions.takes_zero = 1;
    PCI_TRY(open_entries(e, &e->mappings, "mappings", "mapping", err));
    PCI_TRY(open_entries(e, &e->groups, "location_groups", "location", err));
    return open_entries(e, &e->functions, "functions", "function", err);
}

/* ---- mappings ---- */

struct columns {
    const struct pci_column *column[12];
};

static pcol_status want_all(const pcol_file *file, const char *table, const char *const *names,
                            const unsigned *types, size_t count, struct columns *columns,
                            pcol_error *err)
{
    for (size_t i = 0; i < count; i++)
        PCI_TRY(pci_want(file, table, names[i], types[i], &columns->column[i], err));
    return PCOL_OK;
}

/* Fields of a row's message that were not known, as bytes in e->rest. */
static pcol_status own_rest(struct pci_pprof_export *e, const struct pci_column *extra,
                            uint64_t row, uint64_t *root, pcol_error *err)
{
    int64_t value;
    int valid;
    e->rest.size = 0;
    *root = PCI_NO_NODE;
    PCI_TRY(pci_pprof_cell(e->file, extra, row, &value, &valid, err));
    if (!valid || !e->exact)
        return PCOL_OK;
    *root = (uint64_t)value;
    return pci_pprof_append_unknown(e, *root, "", &e->rest, err);
}

/* Number cells into a message's optional fields. */
static pcol_status number(struct pci_pprof_export *e, const struct pci_column *column, uint64_t row,
                          void *value, protobuf_c_boolean *has, pcol_error *err)
{
    int64_t cell;
    int valid;
    PCI_TRY(pci_pprof_cell(e->file, column, row, &cell, &valid, err));
    memcpy(value, &cell, sizeof cell);
    *has = valid && cell != 0;
    return PCOL_OK;
}

static pcol_status flag(struct pci_pprof_export *e, const struct pci_column *column, uint64_t row,
                        protobuf_c_boolean *value, protobuf_c_boolean *has, pcol_error *err)
{
    int64_t cell;
    int valid;
    PCI_TRY(pci_pprof_cell(e->file, column, row, &cell, &valid, err));
    *value = *has = valid && cell != 0;
    return PCOL_OK;
}

static pcol_status text(struct pci_pprof_export *e, const struct pci_column *column, uint64_t row,
                        int64_t *index, protobuf_c_boolean *has, pcol_error *err)
{
    PCI_TRY(pci_pprof_cell_index(e, column, row, index, err));
    *has = *index != 0;
    return PCOL_OK;
}

static pcol_status put_mapping(struct pci_pprof_export *e, const struct columns *c, uint64_t row,
                               pcol_error *err)
{
    PciPprof__Mapping m = PCI_PPROF__MAPPING__INIT;
    uint64_t root;
    m.id = e->mappings.ids[row];
    m.has_id = m.id != 0;
    PCI_TRY(number(e, c->column[0], row, &m.memory_start, &m.has_memory_start, err));
    PCI_TRY(number(e, c->column[1], row, &m.memory_limit, &m.has_memory_limit, err));
    PCI_TRY(number(e, c->column[2], row, &m.file_offset, &m.has_file_offset, err));
    PCI_TRY(text(e, c->column[3], row, &m.filename, &m.has_filename, err));
    PCI_TRY(text(e, c->column[4], row, &m.build_id, &m.has_build_id, err));
    PCI_TRY(flag(e, c->column[5], row, &m.has_functions, &m.has_has_functions, err));
    PCI_TRY(flag(e, c->column[6], row, &m.has_filenames, &m.has_has_filenames, err));
    PCI_TRY(flag(e, c->column[7], row, &m.has_line_numbers, &m.has_has_line_numbers, err));
    PCI_TRY(flag(e, c->column[8], row, &m.has_inline_frames, &m.has_has_inline_frames, err));
    PCI_TRY(own_rest(e, c->column[9], row, &root, err));
    return pci_pprof_put(&e->w, F_MAPPING, &m.base, e->rest.data, e->rest.size, err);
}

static pcol_status put_mappings(struct pci_pprof_export *e, pcol_error *err)
{
    static const char *const names[] = {
        "start",         "limit",         "file_offset",      "filename",          "build_id",
        "has_functions", "has_filenames", "has_line_numbers", "has_inline_frames", "extra"};
    static const unsigned types[] = {PCI_TYPES_INT,      PCI_TYPES_INT,      PCI_TYPES_INT,
                                     PCI_TYPES_TEXT,     PCI_TYPES_TEXT,     PCI_TYPE(PCF_BOOL),
                                     PCI_TYPE(PCF_BOOL), PCI_TYPE(PCF_BOOL), PCI_TYPE(PCF_BOOL),
                                     PCI_TYPES_ROW};
    struct columns c;
    PCI_TRY(want_all(e->file, "mappings", names, types, 10, &c, err));
    for (uint64_t i = 0; i < e->mappings.count; i++)
        PCI_TRY(put_mapping(e, &c, e->mappings.order[i], err));
    return PCOL_OK;
}

/* ---- locations ---- */

struct location_columns {
    struct pci_stacks tree; /* for the rows of a group */
    const struct pci_column *mapping, *address, *folded, *extra;
    const struct pci_column *function, *line, *column, *filename;
};

/* Code outside any function gets one, since a line of pprof has to have one: it has the name that
 * the frame is shown with. Its id is beyond those of our rows. */
static pcol_status outside(struct pci_pprof_export *e, const struct location_columns *c,
                           uint64_t row, uint64_t *id, pcol_error *err)
{
    struct pci_pprof_place place = {.row = row};
    int valid;
    PCI_TRY(pci_pprof_cell(e->file, c->filename, row, &place.file, &valid, err));
    PCI_TRY(pci_pprof_cell(e->file, c->line, row, &place.line, &place.has_line, err));
    *id = 0;
    if (!valid)
        return PCOL_OK;
    uint64_t hash = pci_hash_pair((uint64_t)place.file, (uint64_t)place.line);
    size_t at = pci_hash_start(&e->outside_hash, hash), count = e->outside_hash.count;
    uint32_t k;
    while ((k = pci_hash_next(&e->outside_hash, hash, &at)) != PCI_HASH_NONE)
        if (e->outside[k].file == place.file && e->outside[k].line == place.line &&
            e->outside[k].has_line == place.has_line) {
            *id = e->functions.rows + k + 1;
            return PCOL_OK;
        }
    if (pci_grow((void **)&e->outside, &e->outside_capacity, count + 1, sizeof *e->outside))
        return pci_fail_memory(err);
    e->outside[count] = place;
    *id = e->functions.rows + count + 1;
    return pci_hash_add(&e->outside_hash, hash, (uint32_t)count, err);
}

static pcol_status append_line(struct pci_pprof_export *e, const struct location_columns *c,
                               uint64_t row, uint64_t index, uint64_t root,
                               struct pci_pprof_bytes *kept, pcol_error *err)
{
    PciPprof__Line l = PCI_PPROF__LINE__INIT;
    char path[32];
    int64_t function;
    int valid;
    PCI_TRY(pci_pprof_cell(e->file, c->function, row, &function, &valid, err));
    if (valid)
        PCI_TRY(pci_pprof_entry_id(e, &e->functions, (uint64_t)function, &l.function_id, err));
    else if (!e->exact)
        PCI_TRY(outside(e, c, row, &l.function_id, err));
    l.has_function_id = l.function_id != 0;
    PCI_TRY(number(e, c->line, row, &l.line, &l.has_line, err));
    PCI_TRY(number(e, c->column, row, &l.column, &l.has_column, err));
    if (!valid && !l.has_function_id && !e->exact)
        return PCOL_OK; /* of a place without function, file and line there is nothing to say */
    kept->size = 0;
    if (root != PCI_NO_NODE) {
        snprintf(path, sizeof path, "4.%" PRIu64 ".", index);
        PCI_TRY(pci_pprof_append_unknown(e, root, path, kept, err));
    }
    return pci_pprof_append(&e->rest, F_LINE, &l.base, kept->data, kept->size, err);
}

/* A group without lines has one row that says nothing. */
static pcol_status says_nothing(struct pci_pprof_export *e, const struct location_columns *c,
                                uint64_t row, int *nothing, pcol_error *err)
{
    const struct pci_column *columns[] = {c->function, c->line, c->column, c->filename};
    int64_t ignored;
    int valid = 0;
    for (size_t i = 0; i < 4 && !valid; i++)
        PCI_TRY(pci_pprof_cell(e->file, columns[i], row, &ignored, &valid, err));
    *nothing = !valid;
    return PCOL_OK;
}

static pcol_status put_location(struct pci_pprof_export *e, const struct location_columns *c,
                                uint64_t row, struct pci_pprof_bytes *kept, pcol_error *err)
{
    PciPprof__Location l = PCI_PPROF__LOCATION__INIT;
    uint64_t first, count, root;
    int64_t mapping;
    int valid, nothing = 0;
    l.id = e->groups.ids[row];
    l.has_id = l.id != 0;
    PCI_TRY(pci_pprof_cell(e->file, c->mapping, row, &mapping, &valid, err));
    if (valid)
        PCI_TRY(pci_pprof_entry_id(e, &e->mappings, (uint64_t)mapping, &l.mapping_id, err));
    l.has_mapping_id = l.mapping_id != 0;
    PCI_TRY(number(e, c->address, row, &l.address, &l.has_address, err));
    PCI_TRY(flag(e, c->folded, row, &l.is_folded, &l.has_is_folded, err));
    PCI_TRY(own_rest(e, c->extra, row, &root, err));
    PCI_TRY(pci_stacks_group(&c->tree, row, &first, &count, err));
    if (count == 1)
        PCI_TRY(says_nothing(e, c, first, &nothing, err));
    for (uint64_t i = 0; i < count && !nothing; i++)
        PCI_TRY(append_line(e, c, first + i, i, root, kept, err));
    return pci_pprof_put(&e->w, F_LOCATION, &l.base, e->rest.data, e->rest.size, err);
}

static pcol_status put_locations(struct pci_pprof_export *e, struct pci_pprof_bytes *kept,
                                 pcol_error *err)
{
    struct location_columns c;
    PCI_TRY(pci_stacks_open(e->file, &c.tree, err));
    PCI_TRY(pci_want(e->file, "location_groups", "mapping", PCI_TYPES_ROW, &c.mapping, err));
    PCI_TRY(pci_want(e->file, "location_groups", "address", PCI_TYPES_INT, &c.address, err));
    PCI_TRY(pci_want(e->file, "location_groups", "folded", PCI_TYPE(PCF_BOOL), &c.folded, err));
    PCI_TRY(pci_want(e->file, "location_groups", "extra", PCI_TYPES_ROW, &c.extra, err));
    PCI_TRY(pci_want(e->file, "locations", "function", PCI_TYPES_ROW, &c.function, err));
    PCI_TRY(pci_want(e->file, "locations", "line", PCI_TYPES_INT, &c.line, err));
    PCI_TRY(pci_want(e->file, "locations", "column", PCI_TYPES_INT, &c.column, err));
    PCI_TRY(pci_want(e->file, "locations", "filename", PCI_TYPE(PCF_STRING), &c.filename, err));
    for (uint64_t i = 0; i < e->groups.count; i++)
        PCI_TRY(put_location(e, &c, e->groups.order[i], kept, err));
    return PCOL_OK;
}

/* ---- functions ---- */

/* As compilers of C++ and Rust make them: pprof shows them demangled, if they are the
 * system_name. */
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

/* A name that is the same as the system's says nothing; but pprof takes it for one that is still to
 * be demangled, and cuts what looks like the arguments of a template: nothing is left of R's <GC>.
 * So it is left out: that of <GC> and its like always, others where no profile was one of pprof. */
static pcol_status drop_same_name(const struct pci_pprof_export *e, const struct pci_column *name,
                                  uint64_t row, PciPprof__Function *f, pcol_error *err)
{
    pcol_str text = {"", 0};
    int valid = 0;
    if (e->exact || f->system_name != f->name || !name)
        return PCOL_OK;
    PCI_TRY(pci_get_str(e->file, name, row, &text, &valid, err));
    int all_cut = text.size && text.data[0] == '<' && text.data[text.size - 1] == '>';
    if (all_cut || (!e->any_pprof && !is_mangled(text))) {
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
    PCI_TRY(text(e, c->column[0], row, &f.name, &f.has_name, err));
    PCI_TRY(pci_pprof_cell(e->file, c->column[1], row, &system_name, &named, err));
    PCI_TRY(
        text(e, named ? c->column[1] : c->column[0], row, &f.system_name, &f.has_system_name, err));
    PCI_TRY(drop_same_name(e, c->column[0], row, &f, err));
    PCI_TRY(text(e, c->column[2], row, &f.filename, &f.has_filename, err));
    PCI_TRY(number(e, c->column[3], row, &f.start_line, &f.has_start_line, err));
    PCI_TRY(own_rest(e, c->column[4], row, &root, err));
    return pci_pprof_put(&e->w, F_FUNCTION, &f.base, e->rest.data, e->rest.size, err);
}

static pcol_status put_outside(struct pci_pprof_export *e, struct pci_names *names, size_t k,
                               pcol_error *err)
{
    PciPprof__Function f = PCI_PPROF__FUNCTION__INIT;
    struct pci_name name;
    PCI_TRY(pci_names_get(names, e->outside[k].row, 0, &name, err));
    PCI_TRY(pci_pprof_index_text(&e->w, name.name.data, name.name.size, &f.name, err));
    PCI_TRY(pci_pprof_index(&e->w, name.filename, &f.filename, err));
    f.id = e->functions.rows + k + 1;
    f.has_id = 1;
    f.has_name = f.name != 0;
    f.has_filename = f.filename != 0;
    return pci_pprof_put(&e->w, F_FUNCTION, &f.base, NULL, 0, err);
}

static pcol_status put_all_outside(struct pci_pprof_export *e, pcol_error *err)
{
    struct pci_names names;
    if (!e->outside_hash.count)
        return PCOL_OK;
    e->lost |= PCI_PPROF_LOSS_OUTSIDE;
    pcol_status status = pci_names_open(&names, e->file, err);
    for (size_t k = 0; k < e->outside_hash.count && status == PCOL_OK; k++)
        status = put_outside(e, &names, k, err);
    pci_names_close(&names);
    return status;
}

static pcol_status put_functions(struct pci_pprof_export *e, pcol_error *err)
{
    static const char *const names[] = {"name", "system_name", "filename", "start_line", "extra"};
    static const unsigned types[] = {PCI_TYPES_TEXT, PCI_TYPES_TEXT, PCI_TYPES_TEXT, PCI_TYPES_INT,
                                     PCI_TYPES_ROW};
    struct columns c;
    PCI_TRY(want_all(e->file, "functions", names, types, 5, &c, err));
    for (uint64_t i = 0; i < e->functions.count; i++)
        PCI_TRY(put_function(e, &c, e->functions.order[i], err));
    return put_all_outside(e, err);
}

/* Locations name mappings and functions, so in a merged profile they come first. */
pcol_status pci_pprof_put_tables(struct pci_pprof_export *e, pcol_error *err)
{
    struct pci_pprof_bytes kept = {0};
    pcol_status status = e->exact ? put_mappings(e, err) : PCOL_OK;
    if (status == PCOL_OK)
        status = put_locations(e, &kept, err);
    pci_free(kept.data);
    if (status == PCOL_OK && !e->exact)
        status = put_mappings(e, err);
    return status == PCOL_OK ? put_functions(e, err) : status;
}
