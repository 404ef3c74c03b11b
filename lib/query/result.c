/*
 * result.c - tables over the rows of answers (result.h)
 *
 * Reference counted; the table names the result as its owner, so that streams of the table can
 * retain it. Tests: tests/unit/test_result.c.
 */
#include "query/result.h"

#include "query/query.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/sized_struct.h"

#include <string.h>

static void *retain_owner(void *result)
{
    return pcol_result_retain(result);
}

static void release_owner(void *result)
{
    pcol_result_free(result);
}

void *pci_result_alloc(pcol_result *result, size_t count, size_t size, pcol_error *err)
{
    void *memory = pci_malloc(count ? count : 1, size);
    if (memory)
        result->owned[result->owned_count++] = memory;
    else
        (void)pci_fail_memory(err);
    return memory;
}

/* Terminates the unit for pcol_column_info. */
static pcol_status copy_unit(pcol_result *result, const char **unit, pcol_error *err)
{
    pcol_str text = result->info.unit;
    char *copy = pci_result_alloc(result, text.size + 1, 1, err);
    if (!copy)
        return PCOL_E_NO_MEMORY;
    if (text.size)
        memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    *unit = copy;
    return PCOL_OK;
}

pcol_status pci_result_new(const char *kind, const pcol_query *query, uint64_t rows, void *answer,
                           void (*free_answer)(void *answer), pcol_result **result, pcol_error *err)
{
    pcol_query_info info;
    pcol_result *r = pci_calloc(1, sizeof *r);
    *result = NULL;
    if (!r) {
        free_answer(answer);
        return pci_fail_memory(err);
    }
    r->answer = answer;
    r->free_answer = free_answer;
    r->files[0] = pcol_file_retain(query->file);
    pci_query_describe(query, &info);
    r->info = (pcol_result_info){.size = sizeof r->info,
                                 .kind = kind,
                                 .type = info.type,
                                 .unit = info.unit,
                                 .total = {info.total, info.total},
                                 .scale = 1};
    pci_set_flag(&r->info.flags, PCOL_RESULT_IS_DOUBLE, pci_info_is_double(&info));
    pcol_status status = pci_table_new(query->file, kind, rows, PCI_RESULT_COLUMNS, &r->table, err);
    if (status != PCOL_OK) {
        pcol_result_free(r);
        return status;
    }
    r->table->owner = r;
    r->table->retain_owner = retain_owner;
    r->table->release_owner = release_owner;
    *result = r;
    return PCOL_OK;
}

/* ---- numbers */

/* The element of a row; NULL: the row has none, or its element lacks the member. */
static inline const char *get_element(const struct pci_elements *elements, uint32_t flag,
                                      uint64_t row)
{
    uint64_t at = elements->index ? elements->index[row] : row;
    if (!elements->base || (elements->index && at == PCOL_NONE))
        return NULL;
    const char *element = (const char *)elements->base + at * elements->stride;
    uint32_t flags = flag;
    if (flag && elements->flagged)
        memcpy(&flags, element, sizeof flags);
    return flags & flag || !flag ? element : NULL;
}

/* Copies 64 bits of each row to zeroed values. */
static void fill_bits(const struct pci_elements *elements, const struct pci_member *member,
                      struct pci_array *a, uint8_t *validity)
{
    int64_t *values = a->owned[0];
    for (uint64_t row = 0; row < a->rows; row++) {
        const char *element = get_element(elements, member->flag, row);
        validity[row / 8] |= (uint8_t)((element != NULL) << row % 8);
        a->null_count += !element;
        if (element)
            memcpy(&values[row], element + member->offset, sizeof *values);
    }
}

/* The same of 32 bits; PCOL_NONE is null. */
static void fill_u32(const struct pci_elements *elements, const struct pci_member *member,
                     struct pci_array *a, uint8_t *validity)
{
    uint32_t *values = a->owned[0];
    for (uint64_t row = 0; row < a->rows; row++) {
        const char *element = get_element(elements, member->flag, row);
        uint32_t value = PCOL_NONE;
        if (element)
            memcpy(&value, element + member->offset, sizeof value);
        validity[row / 8] |= (uint8_t)((value != PCOL_NONE) << row % 8);
        a->null_count += value == PCOL_NONE;
        if (value != PCOL_NONE)
            values[row] = value;
    }
}

static void fill_bools(const struct pci_elements *elements, const struct pci_member *member,
                       struct pci_array *a, uint8_t *validity)
{
    uint8_t *values = a->owned[0];
    for (uint64_t row = 0; row < a->rows; row++) {
        const char *element = get_element(elements, member->flag, row);
        validity[row / 8] |= (uint8_t)((element != NULL) << row % 8);
        a->null_count += !element;
        values[row / 8] |= (uint8_t)((element && element[member->offset]) << row % 8);
    }
}

static pcol_status fill_array(const pcol_column *column, struct pci_array *a, pcol_error *err)
{
    const struct pci_result_column *source = column->aux;
    pcol_type type = column->type;
    a->width_bits = type == PCOL_BOOL ? 1 : type == PCOL_U32 ? 32 : 64;
    a->owned[0] = pci_calloc((size_t)a->rows + 1, a->width_bits == 1 ? 1 : a->width_bits / 8);
    a->owned[2] = pci_calloc((size_t)(a->rows / 8) + 1, 1);
    if (!a->owned[0] || !a->owned[2])
        return pci_fail_memory(err);
    if (!source->elements.base)
        a->null_count = a->rows;
    else if (type == PCOL_BOOL)
        fill_bools(&source->elements, &source->member, a, a->owned[2]);
    else if (type == PCOL_U32)
        fill_u32(&source->elements, &source->member, a, a->owned[2]);
    else
        fill_bits(&source->elements, &source->member, a, a->owned[2]);
    a->values = a->owned[0];
    a->validity = a->null_count ? a->owned[2] : NULL;
    return PCOL_OK;
}

static pcol_status read_array(const pcol_column *column, uint64_t row, size_t count,
                              int64_t *values, uint8_t *valid, pcol_error *err)
{
    const struct pci_array *array;
    PCI_TRY(pci_array_open(column, &array, err));
    for (size_t i = 0; i < count; i++) {
        uint64_t at = row + i;
        valid[i] = !array->validity || (array->validity[at / 8] >> (at % 8) & 1);
        values[i] = array->width_bits == 64 ? ((const int64_t *)array->values)[at]
                    : array->width_bits == 32
                        ? (int64_t)((const uint32_t *)array->values)[at]
                        : ((const uint8_t *)array->values)[at / 8] >> at % 8 & 1;
    }
    return PCOL_OK;
}

/* ---- texts */

static pcol_status read_texts(const pcol_column *column, uint64_t row, size_t count,
                              pcol_str *values, uint8_t *valid, pcol_error *err)
{
    const struct pci_result_column *source = column->aux;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        const char *element = get_element(&source->elements, source->member.flag, row + i);
        values[i] = (pcol_str){NULL, 0};
        if (element)
            memcpy(&values[i], element + source->member.offset, sizeof values[i]);
        valid[i] = values[i].data != NULL;
        if (!valid[i])
            values[i] = (pcol_str){"", 0};
    }
    return PCOL_OK;
}

pcol_status pci_result_add(pcol_result *result, const struct pci_elements *elements,
                           const struct pci_member *members, size_t count, pcol_error *err)
{
    int is_double = (result->info.flags & PCOL_RESULT_IS_DOUBLE) != 0;
    for (size_t i = 0; i < count; i++) {
        struct pci_member member = members[i];
        if (member.is_amount)
            member.type = is_double ? PCOL_F64 : PCOL_I64;
        pcol_column *column = pci_table_add(result->table, member.name, member.type);
        result->columns[column->index] = (struct pci_result_column){*elements, member};
        column->aux = &result->columns[column->index];
        column->nullable = !elements->base || elements->index || member.flag ||
                           member.type == PCOL_U32 || member.type == PCOL_STRING;
        if (member.type == PCOL_STRING) {
            column->str = read_texts;
        } else {
            column->fill = fill_array;
            column->bits = read_array;
        }
        if (member.is_amount)
            PCI_TRY(copy_unit(result, &column->unit, err));
    }
    return PCOL_OK;
}

/* ---- public functions */

const pcol_table *pcol_result_table(const pcol_result *result)
{
    return result ? result->table : NULL;
}

pcol_status pcol_result_describe(const pcol_result *result, pcol_result_info *info, pcol_error *err)
{
    PCI_REQUIRE(info, err);
    PCI_REQUIRE(result, err);
    return pci_struct_write(info, &result->info, sizeof result->info, "pcol_result_info", err);
}

pcol_result *pcol_result_retain(const pcol_result *result)
{
    /* Counting does not change the result as the caller sees it. */
    pcol_result *counted = (pcol_result *)(uintptr_t)result;
    if (counted)
        atomic_fetch_add_explicit(&counted->references, 1, memory_order_relaxed);
    return counted;
}

void pcol_result_free(pcol_result *result)
{
    if (!result || atomic_fetch_sub_explicit(&result->references, 1, memory_order_acq_rel) != 0)
        return;
    pci_table_free(result->table);
    if (result->answer)
        result->free_answer(result->answer);
    for (size_t i = 0; i < result->owned_count; i++)
        pci_free(result->owned[i]);
    pcol_file_close(result->files[0]);
    pcol_file_close(result->files[1]);
    pci_free(result);
}
