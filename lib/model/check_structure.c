/*
 * check_structure.c - what goes unsaid when a column is read: directories that agree with what they
 * index, and bits past the last row that are zero
 */
#include "core/thaw.h"
#include "load.h"
#include "model/check.h"

#include "marked.h"
#include "range.h"

#define BLOCK_OFFSET ((UINT64_C(1) << 56) - 1)

static unsigned ones(uint64_t x)
{
    return (unsigned)__builtin_popcountll(x);
}

/* Bits past the first `bits` of a bitmap. */
static int tail_is_zero(const uint8_t *bitmap, uint64_t bits)
{
    return bits % 8 == 0 || bitmap[bits / 8] >> (bits % 8) == 0;
}

static int zero_bytes(const uint8_t *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (bytes[i])
            return 0;
    }
    return 1;
}

/* Bits from the first `bits` on up to `bytes`. */
static int zero_bits(const uint8_t *bytes, uint64_t bits, uint64_t count)
{
    return tail_is_zero(bytes, bits) &&
           zero_bytes(bytes + pcf_bytes_of_bits(bits), count - pcf_bytes_of_bits(bits));
}

static void check_padding(struct pci_tally *tally, const struct pcf_data *data, uint64_t end)
{
    if (end + PCF_PACK_PADDING != data->values_size ||
        !zero_bytes(data->values + end, PCF_PACK_PADDING))
        pci_fault(tally, PCOL_NOWHERE, "the values do not end in 8 zero bytes");
}

static void check_marks(struct pci_tally *tally, const struct pcf_data *data)
{
    uint64_t set = 0;
    for (uint64_t row = 0; row < data->rows; row += PCF_RANK_ROWS) {
        uint64_t left = data->rows - row, n = left < PCF_RANK_ROWS ? left : PCF_RANK_ROWS;
        const uint8_t *marks = pcf_marks_of(data, row / PCF_RANK_ROWS);
        if (pcf_marks_before(data, row / PCF_RANK_ROWS) != set) {
            pci_fault(tally, row, "the count of marks before the row is wrong");
            return;
        }
        for (uint64_t i = 0; i < pcf_bytes_of_bits(n); i++)
            set += ones(marks[i]);
        if (!tail_is_zero(marks, n))
            pci_fault(tally, PCOL_NOWHERE, "bits behind the last row's mark are not zero");
    }
    if (set != data->child[0]->rows)
        pci_fault(tally, PCOL_NOWHERE, "%llu rows have a value of their own, and there are %llu",
                  (unsigned long long)set, (unsigned long long)data->child[0]->rows);
}

static void check_blocks(struct pci_tally *tally, const struct pcf_data *data)
{
    uint64_t expected = 0;
    for (uint64_t row = 0; row < data->rows; row += PCF_BLOCK_ROWS) {
        const uint8_t *block = data->blocks + row / PCF_BLOCK_ROWS * sizeof(struct pcf_block);
        uint64_t bits = pcf_load64(block + offsetof(struct pcf_block, bits));
        uint64_t left = data->rows - row, width = bits >> 56;
        uint64_t used = (left < PCF_BLOCK_ROWS ? left : PCF_BLOCK_ROWS) * width;
        if ((bits & BLOCK_OFFSET) != expected ||
            !pcf_range(expected, pcf_bytes_of_bits(used) + PCF_PACK_PADDING, 1,
                       data->values_size)) {
            pci_fault(tally, row, "the block does not begin where the one before ends");
            return;
        }
        if (!tail_is_zero(data->values + expected, used))
            pci_fault(tally, row, "bits behind the block's last value are not zero");
        expected += pcf_bytes_of_bits(used);
    }
    check_padding(tally, data, expected);
}

static void check_packed(struct pci_tally *tally, const struct pcf_data *data)
{
    uint64_t bits = data->rows * data->width;
    if (!zero_bits(data->values, bits, data->values_size))
        pci_fault(tally, PCOL_NOWHERE, "bits behind the last value are not zero");
}

/* Byte offsets: from 0 to the size of the data; that they rise is seen when rows are read. */
static void check_offsets(struct pci_tally *tally, const struct pcf_data *data)
{
    int64_t first, last;
    int valid;
    if (pcf_get(data->child[0], 0, &first, &valid) != PCF_OK ||
        pcf_get(data->child[0], data->rows, &last, &valid) != PCF_OK || first != 0 ||
        (uint64_t)last != data->bytes_size)
        pci_fault(tally, PCOL_NOWHERE, "the offsets do not go from 0 to the data's %llu bytes",
                  (unsigned long long)data->bytes_size);
}

static void check_ends(struct pci_tally *tally, const struct pcf_data *data)
{
    const struct pcf_data *ends = data->child[0];
    uint64_t before = 0;
    for (uint64_t row = 0; row < ends->rows;) {
        int64_t values[PCF_BLOCK_ROWS];
        uint64_t n = ends->rows - row < PCF_BLOCK_ROWS ? ends->rows - row : PCF_BLOCK_ROWS;
        if (pcf_read(ends, row, n, values, NULL) != PCF_OK) {
            pci_fault(tally, before, "the run ends cannot be read");
            return;
        }
        for (uint64_t i = 0; i < n; i++) {
            uint64_t run = row + i;
            if ((uint64_t)values[i] <= before) {
                pci_fault(tally, before, "the end of run %llu does not rise",
                          (unsigned long long)run);
                return;
            }
            before = (uint64_t)values[i];
        }
        row += n;
    }
    if (before != data->rows)
        pci_fault(tally, PCOL_NOWHERE, "the last run ends at row %llu of %llu",
                  (unsigned long long)before, (unsigned long long)data->rows);
}

/* The column itself and its children, which lie behind it. */
static void check_data(struct pci_tally *tally, const struct pcf_data *data, unsigned depth)
{
    if (data->rows == 0)
        return;
    if (data->validity && !tail_is_zero(data->validity, data->rows))
        pci_fault(tally, PCOL_NOWHERE, "bits behind the last row's validity are not zero");
    if (data->encoding == PCF_SPARSE || data->encoding == PCF_CHAIN ||
        data->encoding == PCF_DELTAS || data->encoding == PCF_SPLIT || data->encoding == PCF_TREE) {
        check_marks(tally, data);
    } else if (data->encoding == PCF_BLOCKED) {
        check_blocks(tally, data);
    } else if (data->encoding == PCF_PACKED) {
        check_packed(tally, data);
    } else if (data->encoding == PCF_RUNS) {
        check_ends(tally, data);
    } else if (data->type == PCF_BYTES && data->encoding != PCF_LINEAR) {
        check_offsets(tally, data);
    } else if (data->encoding == PCF_PLAIN && data->type == PCF_BOOL) {
        if (!tail_is_zero(data->values, data->rows))
            pci_fault(tally, PCOL_NOWHERE, "bits behind the last value are not zero");
    }
    for (size_t i = 0; i < 2 && depth < PCF_MAX_CHILD_DEPTH; i++) {
        if (data->child[i])
            check_data(tally, data->child[i], depth + 1);
    }
}

pcol_status pci_check_structure(struct pci_check *check, const struct pci_column *column,
                                pcol_error *err)
{
    struct pci_tally tally = PCI_TALLY(check, column->table->name, column->name);
    pcol_error error = {0};
    struct pci_hold hold;
    pcol_status status = pci_hold_structure(&hold, check->file, column, &error);
    if (status != PCOL_OK) {
        pci_release(&hold);
        check->untrusted[column->number] = 1;
        return pci_fault_error(check, &error, err);
    }
    check_data(&tally, column->data, 0);
    pci_release(&hold);
    if (tally.count)
        check->untrusted[column->number] = 1;
    pci_tally_end(&tally);
    return status;
}
