/*
 * check_case.c - files built cell by cell, and the faults that `check` reports (check_case.h)
 */
#include "check_case.h"

#include "builder/rows.h"
#include "testing.h"

#include <stdio.h>
#include <string.h>

pcol_builder *case_builder;

void case_begin_as(const char *type)
{
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_sample sample = PCOL_INIT(pcol_sample);
    uint32_t row;
    source.type = type;
    sample.stack = sample.thread = PCOL_NONE;
    OK(pcol_builder_new(NULL, &case_builder, NULL));
    OK(pcol_builder_source(case_builder, &source, &row, NULL));
    OK(pcol_builder_sample_type(case_builder, "samples", "count", 0, 0, &row, NULL));
    for (int i = 0; i < 3; i++)
        OK(pcol_builder_sample(case_builder, &sample, NULL, NULL));
}

void case_begin(void)
{
    case_begin_as("test");
}

uint32_t case_column(const char *table, const char *name, pcol_type type, const char *to)
{
    uint32_t t, c, references = 0;
    if (to) {
        OK(pcol_builder_table(case_builder, to, &references, NULL));
        references++;
    }
    OK(pcol_builder_table(case_builder, table, &t, NULL));
    OK(pci_builder_column(case_builder, t, name, type, references, &c, NULL));
    case_builder->columns[c]->own = case_builder->tables[t].fixed = 0; /* files that it refuses */
    return c;
}

void case_number(const char *table, const char *name, pcol_type type, const char *to, uint64_t row,
                 int64_t value)
{
    OK(pcol_builder_set_i64(case_builder, case_column(table, name, type, to), row, value, NULL));
}

void case_string(const char *table, const char *name, uint64_t row, const char *text)
{
    OK(pcol_builder_set_str(case_builder, case_column(table, name, PCOL_STRING, NULL), row, text,
                            strlen(text), NULL));
}

int case_take(void *context, const pcol_fault *fault)
{
    struct case_found *f = context;
    size_t used = strlen(f->all);
    if (fault->note)
        return 0;
    snprintf(f->all + used, sizeof f->all - used, "%s.%s %lld: %s\n", fault->table, fault->column,
             fault->row == PCOL_POSITION_UNKNOWN ? -1 : (long long)fault->row, fault->message);
    f->seen |= strstr(f->all + used, f->expected) != NULL;
    return 0;
}

void case_expect(pcol_check_depth depth, const char *expected)
{
    struct case_found found = {.expected = expected};
    pcol_error err = {0};
    pcol_file *file;
    void *data;
    size_t size;
    uint64_t faults;
    cr_assert_eq(pcol_builder_write_memory(case_builder, 0, NULL, &data, &size, &err), PCOL_OK,
                 "%s", err.message);
    pcol_builder_free(case_builder);
    cr_assert_eq(pcol_file_open_memory(data, size, NULL, &file, &err), PCOL_OK, "%s", err.message);
    OK(pcol_file_check(file, depth, case_take, &found, NULL, &faults, NULL));
    cr_assert(*expected ? found.seen : !faults, "expected '%s', found\n%s", expected, found.all);
    pcol_file_close(file);
    (void)rejects_or_repairs(data, size);
    pcol_free(data);
}

void case_key(uint64_t row, const char *table, const char *name, const char *kind)
{
    case_string("label_keys", "table", row, table);
    case_string("label_keys", "key", row, name);
    case_string("label_keys", "kind", row, kind);
}

void case_stacked(void)
{
    pcol_function function = PCOL_INIT(pcol_function);
    uint32_t stack = 0, groups[2];
    case_begin_as("perun");
    function.name = function.system_name = function.filename = PCOL_NONE;
    for (int i = 0; i < 2; i++) {
        pcol_group group = PCOL_INIT(pcol_group);
        pcol_line line = {.filename = PCOL_NONE};
        if (i)
            OK(pcol_builder_string(case_builder, "inner", 5, &function.name, NULL));
        OK(pcol_builder_function(case_builder, &function, &line.function, NULL));
        group.lines = &line;
        group.line_count = 1;
        group.mapping = PCOL_NONE;
        OK(pcol_builder_group(case_builder, &group, &groups[i], NULL));
        OK(pcol_builder_stack(case_builder, stack, groups[i], &stack, NULL));
    }
    for (uint64_t row = 0; row < 2; row++)
        case_number("samples", "stack", PCOL_U32, "stacks", row, stack);
}

void case_entry(uint64_t row, int64_t label)
{
    case_number("label_shape_keys", "label_key", PCOL_U32, "label_keys", row, label);
}

void case_node(uint64_t row, int64_t parent, int64_t tag)
{
    if (parent >= 0)
        case_number("nodes", "parent", PCOL_U64, "nodes", row, parent);
    case_number("nodes", "tag", PCOL_U32, NULL, row, tag);
    uint32_t table;
    OK(pcol_builder_table(case_builder, "nodes", &table, NULL));
    case_builder->tables[table].flags = PCF_TABLE_PREORDER;
}

void case_owner(uint64_t row, int64_t root)
{
    case_number("samples", "extra", PCOL_U64, "nodes", row, root);
}

pcol_file *case_open(void **data)
{
    pcol_error err = {0};
    pcol_file *file;
    size_t size;
    cr_assert_eq(pcol_builder_write_memory(case_builder, 0, NULL, data, &size, &err), PCOL_OK, "%s",
                 err.message);
    pcol_builder_free(case_builder);
    cr_assert_eq(pcol_file_open_memory(*data, size, NULL, &file, &err), PCOL_OK, "%s", err.message);
    return file;
}
