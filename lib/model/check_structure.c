/*
 * check_structure.c - structure that reading a column does not verify: directories agree with the
 * data that they index (reader/verify_structure.c), and bits after the last row of a block are zero
 *
 * Tests: tests/unit/test_check.c, suite golden.
 */
#include "format/structure.h"
#include "model/check.h"
#include "reader/archive_read.h"

static pcol_status check_tails(struct pci_tally *tally, const struct pci_column *column,
                               pcol_error *err)
{
    const pcol_file *file = tally->check->file;
    uint64_t rows = column->desc->encoding == PCF_BLOCKED ? column->desc->rows : 0;
    for (uint64_t row = 0; row < rows; row += PCF_BLOCK_ROWS) {
        struct pci_pin hold;
        uint64_t n = rows - row < PCF_BLOCK_ROWS ? rows - row : PCF_BLOCK_ROWS;
        pcol_status status = pci_pin_rows(&hold, file, column, row, n, err);
        if (status == PCOL_OK && !pcf_block_tail_is_zero(column->data, row / PCF_BLOCK_ROWS))
            pci_fault(tally, row, "bits after the block's last value are not zero");
        pci_unpin(&hold);
        if (status != PCOL_OK)
            return status;
    }
    for (uint32_t i = 0; i < column->desc->child_count; i++)
        PCI_TRY(check_tails(tally, &file->columns[column->desc->first_child + i], err));
    return PCOL_OK;
}

pcol_status pci_check_structure(struct pci_check *check, const struct pci_column *column,
                                pcol_error *err)
{
    struct pci_tally tally = PCI_TALLY(check, column->table->name, column->name);
    pcol_error error = {0};
    pcol_status status = pci_verify_structure(check->file, column, &error);
    PCI_THEN(status, check_tails(&tally, column, &error));
    if (status != PCOL_OK)
        status = pci_fault_error(check, &error, err);
    if (tally.count || error.status != PCOL_OK)
        check->untrusted[column->number] = 1;
    pci_tally_end(&tally);
    return status;
}
