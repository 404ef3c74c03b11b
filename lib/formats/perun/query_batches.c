/*
 * query_batches.c - blocks of several result rows
 *
 * Resources mostly come in runs that differ only in a few numbers, which are arrays in the file's
 * batches. A block has the rows of the first resource of a run, and for each cell that differs the
 * array of its values: the caller formats the rows once and then substitutes numbers.
 */
#include "formats/perun/query_answers.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/sized_struct.h"

#include <string.h>

/* ---- cells and parts */

pcol_answer *pci_block_cells(struct pcol_answers *a, size_t rows)
{
    void *cells = a->block_cells;
    size_t count = rows * a->columns.count;
    if (pci_grow(&cells, &a->block_capacity, count + 1, sizeof *a->block_cells))
        return NULL;
    a->block_cells = cells;
    memset(a->block_cells, 0, count * sizeof *a->block_cells); /* PCOL_ANSWER_ABSENT */
    a->json.size = 0;
    return a->block_cells;
}

pcol_status pci_block_part(struct pcol_answers *a, size_t row, size_t column,
                           const struct pci_run_part *run, pcol_error *err)
{
    static const pcol_answer_kind kinds[] = {[PCI_VALUE_BOOL] = PCOL_ANSWER_BOOL,
                                             [PCI_VALUE_INTEGER] = PCOL_ANSWER_I64,
                                             [PCI_VALUE_DOUBLE] = PCOL_ANSWER_F64};
    PCI_TRY(PCI_GROW(a->block_parts, a->block_part_capacity, a->block_part_count + 1, err));
    a->block_parts[a->block_part_count++] =
        (pcol_answer_part){row, column, kinds[run->kind], {"", 0}, run->values};
    return PCOL_OK;
}

pcol_status pci_block_numbers(struct pcol_answers *a, size_t count, struct pci_run_part *run,
                              pcol_error *err)
{
    PCI_TRY(PCI_GROW(a->numbers, a->number_capacity, count, err));
    for (size_t i = 0; i < count; i++)
        a->numbers[i] = (int64_t)(a->resources.number + i);
    *run = (struct pci_run_part){0, PCI_VALUE_INTEGER, a->numbers};
    return PCOL_OK;
}

/* ---- queries */

/* A row, and the following rows that differ only in numbers. */
pcol_status pci_table_block(struct pcol_answers *a, pcol_answer_block *block, pcol_error *err)
{
    struct pci_resources *r = &a->resources;
    const pcol_answer *cells;
    size_t count = 1;
    PCI_TRY(pcol_answers_next(a, &cells, err));
    block->rows = cells != NULL;
    block->cells = cells;
    if (!cells || !a->has_separate_columns)
        return PCOL_OK;
    PCI_TRY(pci_resources_run(r, &count, err));
    if (a->options.flat && pci_run_has(r, "snapshot")) /* it is in two columns */
        return PCOL_OK;
    for (size_t i = 0; i < r->run_part_count && count > 1; i++)
        PCI_TRY(pci_block_part(a, 0, a->columns_of[a->slot_fields[r->run_parts[i].slot]],
                               &r->run_parts[i], err));
    block->times = count;
    pci_resources_skip(r, count);
    return PCOL_OK;
}

/* Resources of one snapshot, with their numbers. */
pcol_status pci_snapshot_block(struct pcol_answers *a, pcol_answer_block *block, pcol_error *err)
{
    struct pci_run_part numbers;
    const pcol_answer *cells;
    PCI_TRY(pcol_answers_next(a, &cells, err));
    block->rows = cells != NULL;
    block->cells = cells;
    if (!cells)
        return PCOL_OK;
    PCI_TRY(pci_resources_run(&a->resources, &block->times, err));
    if (pci_run_has(&a->resources, "snapshot"))
        block->times = 1;
    PCI_TRY(pci_block_numbers(a, block->times, &numbers, err));
    PCI_TRY(pci_block_part(a, 0, 1, &numbers, err));
    pci_resources_skip(&a->resources, block->times);
    return PCOL_OK;
}

/* The items of a resource, and of the following ones that differ only in numbers. */
pcol_status pci_item_block(struct pcol_answers *a, pcol_answer_block *block, pcol_error *err)
{
    struct pci_resources *r = &a->resources;
    struct pci_run_part number;
    pcol_answer *cells;
    int more = 1;
    if (a->found_at < a->flat_count || !a->options.all_rows) {
        const pcol_answer *row;
        PCI_TRY(pcol_answers_next(a, &row, err));
        block->rows = row != NULL;
        block->cells = row;
        return PCOL_OK;
    }
    do {
        PCI_TRY(pci_resources_next(r, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(pci_result_flat(a, err));
    } while (!a->flat_count);
    a->found_at = a->flat_count;
    if (!(cells = pci_block_cells(a, a->flat_count)))
        return pci_fail_memory(err);
    PCI_TRY(pci_resources_run(r, &block->times, err));
    PCI_TRY(pci_block_numbers(a, block->times, &number, err));
    for (size_t i = 0; i < a->flat_count; i++) {
        cells[3 * i] = (pcol_answer){.kind = PCOL_ANSWER_I64, .as.i64 = number.values[0]};
        PCI_TRY(pci_block_part(a, i, 0, &number, err));
        PCI_TRY(pci_result_name(a, &cells[3 * i + 1], a->flat_cells[i].field, err));
        PCI_TRY(pci_result_cell(a, &cells[3 * i + 2], &a->flat_cells[i].value, err));
    }
    for (size_t i = 0; i < r->run_part_count && block->times > 1; i++)
        PCI_TRY(pci_block_part(a, a->slot_cells[r->run_parts[i].slot], 2, &r->run_parts[i], err));
    block->rows = a->flat_count;
    block->cells = cells;
    pci_resources_skip(r, block->times);
    return PCOL_OK;
}

/* ---- public functions */

/* A block of one row, for other queries. */
static pcol_status row_block(struct pcol_answers *a, pcol_answer_block *block, pcol_error *err)
{
    const pcol_answer *cells;
    PCI_TRY(pcol_answers_next(a, &cells, err));
    block->rows = cells != NULL;
    block->cells = cells;
    return PCOL_OK;
}

static pcol_status next_block(struct pcol_answers *a, pcol_answer_block *block, pcol_error *err)
{
    if (!a->block)
        return row_block(a, block, err);
    PCI_TRY(a->block(a, block, err));
    block->parts = a->block_parts;
    block->part_count = a->block_part_count;
    if (block->cells != a->block_cells) /* a row, counted and with its texts located already */
        return pci_result_count(a, block->times - 1, err);
    PCI_TRY(pci_result_count(a, block->rows * block->times, err));
    const char *text = a->json.data;
    for (size_t i = 0; a->json.size && i < block->rows * a->columns.count; i++)
        pci_result_locate_json(&a->block_cells[i], &text);
    return PCOL_OK;
}

pcol_status pcol_answers_block(pcol_answers *answers, pcol_answer_block *block, pcol_error *err)
{
    pcol_answer_block own = {.size = sizeof own, .times = 1};
    pcol_status status;
    PCI_REQUIRE(block, err);
    PCI_TRY(pci_struct_write(block, &own, sizeof own, "pcol_answer_block", err));
    PCI_REQUIRE(answers, err);
    PCI_TRY(pci_answers_require(answers, err));
    answers->block_part_count = 0;
    PCI_CONTROLLED(&answers->control, status, next_block(answers, &own, err), err);
    answers->failed = status != PCOL_OK;
    return status == PCOL_OK ? pci_struct_write(block, &own, sizeof own, "pcol_answer_block", err)
                             : status;
}
