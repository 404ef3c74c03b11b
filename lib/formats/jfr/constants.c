/*
 * constants.c - constants of a chunk: an index by class and key, decoded on first use
 */
#include "formats/jfr/jfr.h"

#include "util/alloc.h"
#include "util/import_budget.h"

#include <inttypes.h>
#include <stdio.h>

pcol_status pci_jfr_view(struct pci_jfr_chunk *chunk, struct pci_spill_view *view, uint64_t at,
                         uint64_t size, struct pci_jfr_cursor *cursor, pcol_error *err)
{
    const uint8_t *data;
    PCI_TRY(pci_spill_view_range(&chunk->bytes, view, at, (size_t)size, &data, err));
    *cursor =
        (struct pci_jfr_cursor){data, data, data + size, chunk->offset + at, chunk->is_compressed};
    return PCOL_OK;
}

/* ---- index ---- */

static uint64_t hash_key(uint32_t class, int64_t key)
{
    return pci_hash_pair(class, (uint64_t)key);
}

static struct pci_jfr_constant *find_constant(const struct pci_jfr_chunk *chunk, uint32_t class,
                                              int64_t key)
{
    uint64_t hash = hash_key(class, key);
    size_t slot = pci_hash_start(&chunk->by_key, hash);
    uint32_t index;
    while ((index = pci_hash_next(&chunk->by_key, hash, &slot)) != PCI_HASH_NONE)
        if (chunk->constants[index].class == class && chunk->constants[index].key == key)
            return &chunk->constants[index];
    return NULL;
}

/* The first constant of a key is used. */
static pcol_status add_constant(struct pci_jfr_chunk *chunk,
                                const struct pci_jfr_constant *constant, pcol_error *err)
{
    if (find_constant(chunk, constant->class, constant->key))
        return PCOL_OK;
    if (chunk->constant_count >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 constants in a chunk");
    if (pci_grow((void **)&chunk->constants, &chunk->constant_capacity, chunk->constant_count + 1,
                 sizeof *constant))
        return pci_fail_memory(err);
    PCI_TRY(pci_hash_add(&chunk->by_key, hash_key(constant->class, constant->key),
                         (uint32_t)chunk->constant_count, err));
    chunk->constants[chunk->constant_count++] = *constant;
    return PCOL_OK;
}

static pcol_status read_pool(struct pci_jfr_chunk *chunk, struct pci_jfr_cursor *c, pcol_error *err)
{
    struct pci_jfr_cursor start = *c;
    struct pci_jfr_constant constant = {.row = PCOL_NONE};
    int64_t id;
    uint64_t count;
    PCI_TRY(pci_jfr_integer(c, 8, &id, err));
    PCI_TRY(pci_jfr_count(c, &count, err));
    constant.class = pci_jfr_find_class(&chunk->classes, id);
    if (constant.class == PCOL_NONE)
        return pci_jfr_fail(&start, err,
                            "constants of a class that the metadata does not describe");
    enum pci_jfr_role role = chunk->classes.classes[constant.class].role;
    for (uint64_t i = 0; i < count; i++) {
        PCI_TRY(pci_jfr_integer(c, 8, &constant.key, err));
        const uint8_t *value = c->p;
        PCI_TRY(pci_jfr_read_value(&chunk->classes, constant.class, c, NULL, err));
        constant.at = c->offset - chunk->offset + (uint64_t)(value - c->start);
        constant.size = (uint32_t)(c->p - value);
        if (role >= PCI_JFR_STRING)
            PCI_TRY(add_constant(chunk, &constant, err));
    }
    return PCOL_OK;
}

pcol_status pci_jfr_read_checkpoint(struct pci_jfr_chunk *chunk, struct pci_jfr_cursor *cursor,
                                    pcol_error *err)
{
    int64_t ignored;
    uint64_t pools;
    for (int i = 0; i < 3; i++) /* start, duration, offset of the previous checkpoint */
        PCI_TRY(pci_jfr_integer(cursor, 8, &ignored, err));
    PCI_TRY(pci_jfr_skip(cursor, 1, err)); /* flags */
    PCI_TRY(pci_jfr_count(cursor, &pools, err));
    for (uint64_t i = 0; i < pools; i++)
        PCI_TRY(read_pool(chunk, cursor, err));
    return PCOL_OK;
}

/* ---- values ---- */

/* Read the constant of a class and key that a value has; *constant is NULL if the chunk lacks it.
 * Classes go by their ids: several may have one name. */
static pcol_status read_constant(struct pci_jfr_chunk *chunk, const struct pci_jfr_value *value,
                                 int64_t key, struct pci_spill_view *view,
                                 struct pci_jfr_constant **constant, struct pci_jfr_cursor *cursor,
                                 struct pci_jfr_value *values, pcol_error *err)
{
    *constant = value->is_set ? find_constant(chunk, value->class, key) : NULL;
    if (!*constant || (*constant)->is_decoded)
        return PCOL_OK;
    /* Symbols are read again for each method that names them. */
    PCI_TRY(pci_budget_charge_expansion(pci_thread_budget, (*constant)->size, err));
    PCI_TRY(pci_jfr_view(chunk, view, (*constant)->at, (*constant)->size, cursor, err));
    return pci_jfr_read_value(&chunk->classes, value->class, cursor, values, err);
}

static pcol_status append_text(struct pci_jfr_chunk *chunk, const struct pci_jfr_value *value,
                               pcol_error *err)
{
    struct pci_jfr_constant *constant;
    struct pci_jfr_cursor cursor;
    struct pci_jfr_value values[PCI_JFR_SLOTS];
    if (value->text.encoding != PCI_JFR_CONSTANT)
        return pci_jfr_append(&value->text, &chunk->text, err);
    PCI_TRY(read_constant(chunk, value, value->text.key, &chunk->view, &constant, &cursor, values,
                          err));
    return constant && values[PCI_JFR_NAME].text.encoding != PCI_JFR_CONSTANT
               ? pci_jfr_append(&values[PCI_JFR_NAME].text, &chunk->text, err)
               : PCOL_OK;
}

static pcol_status append_symbol(struct pci_jfr_chunk *chunk, const struct pci_jfr_value *symbol,
                                 pcol_error *err)
{
    struct pci_jfr_constant *constant;
    struct pci_jfr_cursor cursor;
    struct pci_jfr_value values[PCI_JFR_SLOTS];
    PCI_TRY(read_constant(chunk, symbol, symbol->number, &chunk->view, &constant, &cursor, values,
                          err));
    return constant && values[PCI_JFR_NAME].is_set ? append_text(chunk, &values[PCI_JFR_NAME], err)
                                                   : PCOL_OK;
}

static pcol_status intern_text(struct pci_jfr_chunk *chunk, uint32_t *string, pcol_error *err)
{
    *string = PCOL_NONE;
    return chunk->text.size ? pcol_builder_string(chunk->builder, chunk->text.data,
                                                  chunk->text.size, string, err)
                            : PCOL_OK;
}

static pcol_status append_class(struct pci_jfr_chunk *chunk, const struct pci_jfr_value *value,
                                pcol_error *err)
{
    struct pci_jfr_constant *constant;
    struct pci_jfr_cursor cursor;
    struct pci_jfr_value values[PCI_JFR_SLOTS];
    PCI_TRY(
        read_constant(chunk, value, value->number, &chunk->view, &constant, &cursor, values, err));
    return constant ? append_symbol(chunk, &values[PCI_JFR_NAME], err) : PCOL_OK;
}

/* Row of functions: CLASS.METHOD. */
static pcol_status find_method(struct pci_jfr_chunk *chunk, const struct pci_jfr_value *value,
                               uint32_t *row, pcol_error *err)
{
    struct pci_jfr_constant *constant;
    struct pci_jfr_cursor cursor;
    struct pci_jfr_value values[PCI_JFR_SLOTS];
    pcol_function function = PCOL_INIT(pcol_function);
    PCI_TRY(
        read_constant(chunk, value, value->number, &chunk->view, &constant, &cursor, values, err));
    *row = constant ? constant->row : PCOL_NONE;
    if (!constant || constant->is_decoded)
        return PCOL_OK;
    chunk->text.size = 0;
    PCI_TRY(append_class(chunk, &values[PCI_JFR_METHOD_CLASS], err));
    if (chunk->text.size)
        PCI_TRY(pci_strbuf_append(&chunk->text, ".", 1, err));
    PCI_TRY(append_symbol(chunk, &values[PCI_JFR_METHOD_NAME], err));
    PCI_TRY(intern_text(chunk, &function.name, err));
    function.system_name = function.filename = PCOL_NONE;
    if (function.name != PCOL_NONE)
        PCI_TRY(pcol_builder_function(chunk->builder, &function, row, err));
    constant->row = *row;
    constant->is_decoded = 1;
    return PCOL_OK;
}

static pcol_status find_frame_type(struct pci_jfr_chunk *chunk, const struct pci_jfr_value *value,
                                   uint32_t *string, pcol_error *err)
{
    struct pci_jfr_constant *constant;
    struct pci_jfr_cursor cursor;
    struct pci_jfr_value values[PCI_JFR_SLOTS];
    PCI_TRY(
        read_constant(chunk, value, value->number, &chunk->view, &constant, &cursor, values, err));
    *string = constant ? constant->row : PCOL_NONE;
    if (!constant || constant->is_decoded)
        return PCOL_OK;
    chunk->text.size = 0;
    PCI_TRY(append_text(chunk, &values[PCI_JFR_NAME], err));
    PCI_TRY(intern_text(chunk, string, err));
    constant->row = *string;
    constant->is_decoded = 1;
    return PCOL_OK;
}

/* ---- threads ---- */

static pcol_status thread_cells(struct pci_jfr_chunk *chunk, const struct pci_jfr_value *values,
                                struct pci_import_thread *cells, pcol_error *err)
{
    char number[24];
    *cells = (struct pci_import_thread){PCOL_NONE, PCOL_NONE, PCOL_NONE, PCOL_NONE,
                                        (uint32_t)values[PCI_JFR_JAVA_ID].number};
    chunk->text.size = 0;
    PCI_TRY(append_text(chunk, &values[PCI_JFR_JAVA_NAME], err));
    if (!chunk->text.size)
        PCI_TRY(append_text(chunk, &values[PCI_JFR_OS_NAME], err));
    PCI_TRY(intern_text(chunk, &cells->name, err));
    if (values[PCI_JFR_OS_ID].number) { /* 0: a virtual thread */
        int size = snprintf(number, sizeof number, "%" PRId64, values[PCI_JFR_OS_ID].number);
        PCI_TRY(pcol_builder_string(chunk->builder, number, (size_t)size, &cells->tid, err));
    }
    return PCOL_OK;
}

pcol_status pci_jfr_find_thread(struct pci_jfr_chunk *chunk, const struct pci_jfr_value *value,
                                uint32_t *row, pcol_error *err)
{
    struct pci_jfr_constant *constant;
    struct pci_jfr_cursor cursor;
    struct pci_jfr_value values[PCI_JFR_SLOTS];
    struct pci_import_thread cells;
    PCI_TRY(read_constant(chunk, value, value->number, &chunk->stack_view, &constant, &cursor,
                          values, err));
    *row = constant ? constant->row : PCOL_NONE;
    if (!constant || constant->is_decoded)
        return PCOL_OK;
    PCI_TRY(thread_cells(chunk, values, &cells, err));
    PCI_TRY(pci_import_thread(chunk->import, &cells, row, err));
    constant->row = *row;
    constant->is_decoded = 1;
    return PCOL_OK;
}

/* ---- stacks ---- */

static pcol_status label_column(struct pci_jfr_chunk *chunk, const char *name, uint8_t kind,
                                uint32_t *column, pcol_error *err)
{
    uint32_t key, number;
    if (*column != PCOL_NONE)
        return PCOL_OK;
    PCI_TRY(pcol_builder_string(chunk->builder, name, strlen(name), &key, err));
    PCI_TRY(pci_label_key_row(chunk->builder, PCI_T_GROUPS, key, PCOL_NONE, kind, 0, &number, err));
    return pci_label_column(chunk->builder, number, column, err);
}

static pcol_status add_frame(struct pci_jfr_chunk *chunk, const struct pci_jfr_value *values,
                             uint32_t *row, pcol_error *err)
{
    pcol_group group = PCOL_INIT(pcol_group);
    pcol_line line = {.filename = PCOL_NONE, .line = values[PCI_JFR_LINE].number};
    uint32_t columns[2], type = PCOL_NONE;
    struct pci_cell_value cells[2];
    size_t count = 0;
    PCI_TRY(find_method(chunk, &values[PCI_JFR_FRAME_METHOD], &line.function, err));
    pci_set_flag(&line.flags, PCOL_LINE_HAS_LINE, line.line > 0);
    line.line = line.line > 0 ? line.line : 0;
    if (values[PCI_JFR_BYTECODE_INDEX].is_set && values[PCI_JFR_BYTECODE_INDEX].number >= 0) {
        PCI_TRY(
            label_column(chunk, "bytecode_index", PCI_LABEL_INTEGER, &chunk->bytecode_index, err));
        columns[count] = chunk->bytecode_index;
        cells[count++] = (struct pci_cell_value){values[PCI_JFR_BYTECODE_INDEX].number, 1};
    }
    PCI_TRY(find_frame_type(chunk, &values[PCI_JFR_TYPE], &type, err));
    if (type != PCOL_NONE) {
        PCI_TRY(label_column(chunk, "frame_type", PCI_LABEL_STRING, &chunk->frame_type, err));
        columns[count] = chunk->frame_type;
        cells[count++] = (struct pci_cell_value){type, 1};
    }
    group.lines = &line;
    group.line_count = 1;
    group.mapping = PCOL_NONE;
    return pci_builder_group(chunk->builder, 0, &group, columns, cells, count, row, NULL, err);
}

static pcol_status add_frames(struct pci_jfr_chunk *chunk, struct pci_jfr_cursor *cursor,
                              const struct pci_jfr_value *frames, uint32_t *stack, pcol_error *err)
{
    size_t count = frames->is_set ? (size_t)frames->number : 0;
    struct pci_jfr_value values[PCI_JFR_SLOTS];
    cursor->p = frames->is_set ? frames->elements : cursor->p;
    if (pci_grow((void **)&chunk->groups, &chunk->group_capacity, count + 1, sizeof *chunk->groups))
        return pci_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        PCI_TRY(pci_jfr_read_value(&chunk->classes, frames->class, cursor, values, err));
        PCI_TRY(add_frame(chunk, values, &chunk->groups[i], err));
    }
    *stack = 0;
    for (size_t i = count; i-- > 0;)
        PCI_TRY(pcol_builder_stack(chunk->builder, *stack, chunk->groups[i], stack, err));
    return PCOL_OK;
}

pcol_status pci_jfr_find_stack(struct pci_jfr_chunk *chunk, const struct pci_jfr_value *value,
                               const struct pci_jfr_constant **stack, pcol_error *err)
{
    struct pci_jfr_constant *constant;
    struct pci_jfr_cursor cursor;
    struct pci_jfr_value values[PCI_JFR_SLOTS];
    PCI_TRY(read_constant(chunk, value, value->number, &chunk->stack_view, &constant, &cursor,
                          values, err));
    *stack = constant;
    if (!constant || constant->is_decoded)
        return PCOL_OK;
    PCI_TRY(add_frames(chunk, &cursor, &values[PCI_JFR_FRAMES], &constant->row, err));
    constant->is_truncated = values[PCI_JFR_TRUNCATED].number != 0;
    constant->is_decoded = 1;
    return PCOL_OK;
}
