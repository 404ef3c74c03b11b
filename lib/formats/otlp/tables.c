/*
 * tables.c - the dictionary of a message: strings, mappings, functions, locations, stacks
 *
 * Entry 0 of a table is the empty one. An index 0 is valid without it.
 */
#include "formats/otlp/otlp.h"

#include "util/alloc.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const table_names[PCI_OTLP_TABLES] = {
    "",           "mapping_table", "location_table",  "function_table",
    "link_table", "string_table",  "attribute_table", "stack_table"};

/* ---- entries */

pcol_status pci_otlp_scan_tables(struct pci_otlp *r, struct pci_otlp_span message, pcol_error *err)
{
    struct pci_otlp_field field, entry;
    for (int i = 0; i < PCI_OTLP_TABLES; i++)
        r->tables[i].count = 0;
    while (message.size) {
        PCI_TRY(pci_otlp_next(r, &message, &field, err));
        if (field.number != 2)
            continue;
        PCI_TRY(pci_otlp_expect(r, &field, PCI_OTLP_BYTES, err));
        while (field.bytes.size) {
            PCI_TRY(pci_otlp_next(r, &field.bytes, &entry, err));
            if (entry.number >= PCI_OTLP_TABLES)
                continue;
            struct pci_otlp_table *table = &r->tables[entry.number];
            PCI_TRY(pci_otlp_expect(r, &entry, PCI_OTLP_BYTES, err));
            PCI_TRY(PCI_GROW(table->entries, table->capacity, table->count + 1, err));
            table->entries[table->count++] = entry.bytes;
        }
    }
    return PCOL_OK;
}

static pcol_status check_index(const struct pci_otlp *r, const uint8_t *at, int table,
                               uint64_t index, pcol_error *err)
{
    size_t count = r->tables[table].count;
    if (index < count || !index)
        return PCOL_OK;
    return pci_otlp_fail(r, at, err, "index %" PRId64 ", but %s has %zu entries", (int64_t)index,
                         table_names[table], count);
}

pcol_status pci_otlp_row(const struct pci_otlp *r, const uint8_t *at, int table, uint64_t index,
                         uint32_t *row, pcol_error *err)
{
    *row = PCOL_NONE;
    PCI_TRY(check_index(r, at, table, index, err));
    if (index < r->tables[table].count)
        *row = r->tables[table].rows[index];
    return PCOL_OK;
}

/* Strings are added to the builder when they are first used. */
pcol_status pci_otlp_string(struct pci_otlp *r, const uint8_t *at, uint64_t index, uint32_t *string,
                            pcol_error *err)
{
    const struct pci_otlp_table *strings = &r->tables[PCI_OTLP_STRINGS];
    PCI_TRY(pci_otlp_row(r, at, PCI_OTLP_STRINGS, index, string, err));
    if (*string != PCOL_NONE || index >= strings->count || !strings->entries[index].size)
        return PCOL_OK;
    PCI_TRY(pcol_builder_string(r->builder, (const char *)strings->entries[index].data,
                                strings->entries[index].size, string, err));
    strings->rows[index] = *string;
    return PCOL_OK;
}

/* ---- attributes */

static enum pci_otlp_role find_role(pcol_str key)
{
    static const struct {
        const char *key;
        enum pci_otlp_role role;
    } roles[] = {{"thread.id", PCI_OTLP_THREAD_ID},
                 {"thread.name", PCI_OTLP_THREAD_NAME},
                 {"process.pid", PCI_OTLP_PROCESS_ID},
                 {"process.executable.name", PCI_OTLP_PROCESS_NAME},
                 {"process.executable.build_id.gnu", PCI_OTLP_BUILD_ID},
                 {"process.executable.build_id.go", PCI_OTLP_BUILD_ID},
                 {"process.executable.build_id.htlhash", PCI_OTLP_BUILD_ID}};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (pci_str_is(key, roles[i].key))
            return roles[i].role;
    return PCI_OTLP_LABEL;
}

/* The value of an attribute as text, numbers in decimal; PCOL_NONE for others. */
static pcol_status get_text(struct pci_otlp *r, const struct pci_label *label, uint32_t *text,
                            pcol_error *err)
{
    char digits[24];
    *text = label->kind == PCI_LABEL_STRING ? label->text : PCOL_NONE;
    if (label->kind != PCI_LABEL_INTEGER)
        return PCOL_OK;
    int size = snprintf(digits, sizeof digits, "%" PRId64, label->as.i64);
    return pcol_builder_string(r->builder, digits, (size_t)size, text, err);
}

/* Read an AnyValue, or a further part of one; *found: it is a scalar. */
static pcol_status read_value(struct pci_otlp *r, struct pci_otlp_span message,
                              struct pci_label *label, int *found, pcol_error *err)
{
    static const uint8_t kinds[] = {
        0, PCI_LABEL_STRING, PCI_LABEL_BOOL, PCI_LABEL_INTEGER, PCI_LABEL_DOUBLE, 0, 0,
        0, PCI_LABEL_STRING};
    static const uint8_t types[] = {
        0, PCI_OTLP_BYTES, PCI_OTLP_VARINT, PCI_OTLP_VARINT, PCI_OTLP_FIXED64, 0, 0,
        0, PCI_OTLP_VARINT};
    struct pci_otlp_field field;
    while (message.size) { /* the last field of the choice is valid */
        PCI_TRY(pci_otlp_next(r, &message, &field, err));
        if (field.number > 8)
            continue;
        *found = field.number < 5 || field.number == 8;
        if (!*found)
            continue;
        PCI_TRY(pci_otlp_expect(r, &field, types[field.number], err));
        label->kind = kinds[field.number];
        label->text = PCOL_NONE;
        label->as.i64 = (int64_t)(label->kind == PCI_LABEL_BOOL ? field.value != 0 : field.value);
        if (field.number == 8)
            PCI_TRY(pci_otlp_string(r, field.at, field.value, &label->text, err));
        if (field.number == 1 || (field.number == 8 && label->text == PCOL_NONE))
            PCI_TRY(pcol_builder_string(r->builder, (const char *)field.bytes.data,
                                        field.bytes.size, &label->text, err));
        if (label->kind == PCI_LABEL_DOUBLE)
            memcpy(&label->as.f64, &field.value, sizeof label->as.f64);
    }
    return PCOL_OK;
}

pcol_status pci_otlp_read_attribute(struct pci_otlp *r, struct pci_otlp_span message, int is_entry,
                                    struct pci_otlp_attribute *attribute, pcol_error *err)
{
    struct pci_otlp_field field;
    pcol_str key = {"", 0};
    int has_value = 0;
    attribute->label = (struct pci_label){.key = PCOL_NONE, .unit = PCOL_NONE, .text = PCOL_NONE};
    while (message.size) {
        PCI_TRY(pci_otlp_next(r, &message, &field, err));
        if (field.number < 1 || field.number > 3)
            continue;
        int is_index = field.number == 3 || (field.number == 1 && is_entry);
        PCI_TRY(pci_otlp_expect(r, &field, is_index ? PCI_OTLP_VARINT : PCI_OTLP_BYTES, err));
        if (field.number == 2) {
            PCI_TRY(read_value(r, field.bytes, &attribute->label, &has_value, err));
        } else if (is_index) {
            int is_key = field.number == 1 || !is_entry;
            PCI_TRY(pci_otlp_string(r, field.at, field.value,
                                    is_key ? &attribute->label.key : &attribute->label.unit, err));
            if (is_key) {
                struct pci_otlp_span text = {field.at, 0};
                if (attribute->label.key != PCOL_NONE)
                    text = r->tables[PCI_OTLP_STRINGS].entries[field.value];
                key = (pcol_str){(const char *)text.data, text.size};
            }
        } else {
            key = (pcol_str){(const char *)field.bytes.data, field.bytes.size};
            PCI_TRY(
                pcol_builder_string(r->builder, key.data, key.size, &attribute->label.key, err));
        }
    }
    attribute->role = has_value && key.size ? find_role(key) : PCI_OTLP_NO_COLUMN;
    attribute->text = PCOL_NONE;
    if (attribute->role == PCI_OTLP_NO_COLUMN || attribute->role == PCI_OTLP_LABEL)
        return PCOL_OK;
    PCI_TRY(get_text(r, &attribute->label, &attribute->text, err));
    if (attribute->text == PCOL_NONE) /* no id or name: a fraction or a bool */
        attribute->role = PCI_OTLP_LABEL;
    return PCOL_OK;
}

static pcol_status read_attributes(struct pci_otlp *r, pcol_error *err)
{
    const struct pci_otlp_table *table = &r->tables[PCI_OTLP_ATTRIBUTES];
    PCI_TRY(PCI_GROW(r->attributes, r->attribute_capacity, table->count, err));
    for (size_t i = 0; i < table->count; i++)
        PCI_TRY(pci_otlp_read_attribute(r, table->entries[i], 1, &r->attributes[i], err));
    return PCOL_OK;
}

/* ---- mappings, functions, locations */

static pcol_status find_build_id(struct pci_otlp *r, struct pci_otlp_span message, uint32_t *text,
                                 pcol_error *err)
{
    struct pci_otlp_field field;
    *text = PCOL_NONE;
    while (message.size) {
        PCI_TRY(pci_otlp_next(r, &message, &field, err));
        if (field.number != 5)
            continue;
        r->indices.count = 0;
        PCI_TRY(pci_otlp_collect(r, &field, PCI_OTLP_VARINT, &r->indices, err));
        for (size_t i = 0; i < r->indices.count; i++) {
            uint64_t index = r->indices.values[i];
            PCI_TRY(check_index(r, field.at, PCI_OTLP_ATTRIBUTES, index, err));
            if (index < r->tables[PCI_OTLP_ATTRIBUTES].count && *text == PCOL_NONE &&
                r->attributes[index].role == PCI_OTLP_BUILD_ID)
                *text = r->attributes[index].text;
        }
    }
    return PCOL_OK;
}

static pcol_status read_mapping(struct pci_otlp *r, struct pci_otlp_span message, uint32_t *row,
                                pcol_error *err)
{
    static const struct {
        const char *name;
        pcol_type type;
    } names[] = {{"start", PCOL_U64},
                 {"limit", PCOL_U64},
                 {"file_offset", PCOL_U64},
                 {"filename", PCOL_STRING},
                 {"build_id", PCOL_STRING}};
    enum { COUNT = sizeof names / sizeof *names };
    struct pci_cell_value cells[COUNT];
    uint32_t columns[COUNT], text;
    uint64_t values[5] = {0};
    PCI_TRY(pci_otlp_numbers(r, message, 4, values, err));
    for (int i = 0; i < COUNT; i++)
        PCI_TRY(pci_builder_column(r->builder, PCI_T_MAPPINGS, names[i].name, names[i].type, 0,
                                   &columns[i], err));
    for (int i = 0; i < 3; i++)
        cells[i] = (struct pci_cell_value){(int64_t)values[i + 1], 1};
    PCI_TRY(pci_otlp_string(r, message.data, values[4], &text, err));
    cells[3] = (struct pci_cell_value){text, text != PCOL_NONE};
    PCI_TRY(find_build_id(r, message, &text, err));
    cells[4] = (struct pci_cell_value){text, text != PCOL_NONE};
    *row = PCOL_NONE;
    if (!values[1] && !values[2] && !values[3] && !cells[3].valid && !cells[4].valid)
        return PCOL_OK;
    return pci_builder_intern(r->builder, PCI_T_MAPPINGS, columns, cells, COUNT, 0, row, NULL, err);
}

static pcol_status read_function(struct pci_otlp *r, struct pci_otlp_span message, uint32_t *row,
                                 pcol_error *err)
{
    pcol_function function = PCOL_INIT(pcol_function);
    uint64_t values[5] = {0};
    PCI_TRY(pci_otlp_numbers(r, message, 4, values, err));
    PCI_TRY(pci_otlp_string(r, message.data, values[1], &function.name, err));
    PCI_TRY(pci_otlp_string(r, message.data, values[2], &function.system_name, err));
    PCI_TRY(pci_otlp_string(r, message.data, values[3], &function.filename, err));
    *row = PCOL_NONE;
    if (function.name == PCOL_NONE && function.system_name == PCOL_NONE &&
        function.filename == PCOL_NONE)
        return PCOL_OK;
    if (values[4]) {
        function.start_line = (int64_t)values[4];
        function.flags = PCOL_FUNCTION_HAS_START_LINE;
    }
    return pcol_builder_function(r->builder, &function, row, err);
}

static pcol_status read_line(struct pci_otlp *r, struct pci_otlp_span message, pcol_line *line,
                             pcol_error *err)
{
    uint64_t values[4] = {0};
    *line = (pcol_line){.filename = PCOL_NONE};
    PCI_TRY(pci_otlp_numbers(r, message, 3, values, err));
    PCI_TRY(pci_otlp_row(r, message.data, PCI_OTLP_FUNCTIONS, values[1], &line->function, err));
    line->line = (int64_t)values[2];
    line->column = (int64_t)values[3];
    line->flags = (values[2] ? PCOL_LINE_HAS_LINE : 0u) | (values[3] ? PCOL_LINE_HAS_COLUMN : 0u);
    return PCOL_OK;
}

static pcol_status read_location(struct pci_otlp *r, struct pci_otlp_span message, uint32_t *row,
                                 pcol_error *err)
{
    pcol_group group = PCOL_INIT(pcol_group);
    struct pci_otlp_span rest = message;
    struct pci_otlp_field field;
    uint64_t values[3] = {0};
    PCI_TRY(pci_otlp_numbers(r, message, 2, values, err));
    PCI_TRY(pci_otlp_row(r, message.data, PCI_OTLP_MAPPINGS, values[1], &group.mapping, err));
    while (rest.size) {
        PCI_TRY(pci_otlp_next(r, &rest, &field, err));
        if (field.number != 3)
            continue;
        PCI_TRY(pci_otlp_expect(r, &field, PCI_OTLP_BYTES, err));
        PCI_TRY(PCI_GROW(r->lines, r->line_capacity, group.line_count + 1, err));
        PCI_TRY(read_line(r, field.bytes, &r->lines[group.line_count], err));
        group.line_count++;
    }
    group.lines = r->lines;
    group.address = values[2];
    group.flags = values[2] ? PCOL_GROUP_HAS_ADDRESS : 0;
    return pcol_builder_group(r->builder, &group, row, err);
}

/* ---- stacks */

static pcol_status read_stack(struct pci_otlp *r, struct pci_otlp_span message, uint32_t *row,
                              pcol_error *err)
{
    const uint8_t *at = message.data;
    struct pci_otlp_field field;
    r->indices.count = 0;
    *row = 0;
    while (message.size) {
        PCI_TRY(pci_otlp_next(r, &message, &field, err));
        if (field.number == 1)
            PCI_TRY(pci_otlp_collect(r, &field, PCI_OTLP_VARINT, &r->indices, err));
    }
    for (size_t i = r->indices.count; i-- > 0;) { /* outermost first */
        uint32_t group;
        PCI_TRY(pci_otlp_row(r, at, PCI_OTLP_LOCATIONS, r->indices.values[i], &group, err));
        if (group == PCOL_NONE) { /* location 0 of an empty table */
            pcol_group empty = PCOL_INIT(pcol_group);
            empty.mapping = PCOL_NONE;
            PCI_TRY(pcol_builder_group(r->builder, &empty, &group, err));
        }
        PCI_TRY(pcol_builder_stack(r->builder, *row, group, row, err));
    }
    return PCOL_OK;
}

pcol_status pci_otlp_read_tables(struct pci_otlp *r, pcol_error *err)
{
    static const struct {
        int table;
        pcol_status (*read)(struct pci_otlp *r, struct pci_otlp_span message, uint32_t *row,
                            pcol_error *err);
    } readers[] = {{PCI_OTLP_MAPPINGS, read_mapping},
                   {PCI_OTLP_FUNCTIONS, read_function},
                   {PCI_OTLP_LOCATIONS, read_location},
                   {PCI_OTLP_STACKS, read_stack}};
    struct pci_otlp_table *strings = &r->tables[PCI_OTLP_STRINGS];
    PCI_TRY(PCI_GROW(strings->rows, strings->row_capacity, strings->count, err));
    for (size_t i = 0; i < strings->count; i++)
        strings->rows[i] = PCOL_NONE;
    PCI_TRY(read_attributes(r, err));
    for (size_t k = 0; k < sizeof readers / sizeof *readers; k++) {
        struct pci_otlp_table *table = &r->tables[readers[k].table];
        PCI_TRY(PCI_GROW(table->rows, table->row_capacity, table->count, err));
        for (size_t i = 0; i < table->count; i++)
            PCI_TRY(readers[k].read(r, table->entries[i], &table->rows[i], err));
    }
    return PCOL_OK;
}
