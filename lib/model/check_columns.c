/*
 * check_columns.c - every value of every column: it decodes, fits its type and references, and
 * agrees with the null count, minimum, maximum and order in the descriptor
 *
 * Columns without stored bytes per row may declare any number of rows; they are checked by their
 * parameters (LINEAR: first and last value) or by runs. Tests: tests/unit/test_check.c.
 */
#include "model/check.h"

#include "format/range.h"

#include <string.h>

/* Statistics of a column. */
struct found {
    uint64_t nulls;
    int any; /* min and max are set: there is a value (f64: one that is not NaN) */
    int64_t min, max;
    int falls; /* some value is less than the previous one */
    int has_last;
    int64_t last;
};

static double double_of(int64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int less(uint8_t type, int64_t a, int64_t b)
{
    if (type == PCF_F64)
        return double_of(a) < double_of(b);
    return type == PCF_I64 ? a < b : (uint64_t)a < (uint64_t)b;
}

static void add(struct found *found, uint8_t type, int64_t value)
{
    if (type == PCF_F64 && double_of(value) != double_of(value))
        return;
    if (!found->any || less(type, value, found->min))
        found->min = value;
    if (!found->any || less(type, found->max, value))
        found->max = value;
    found->any = 1;
    if (found->has_last && less(type, value, found->last))
        found->falls = 1;
    found->has_last = 1;
    found->last = value;
}

/* As add(), for values that are neither null nor doubles; *largest: as unsigned. Flipping the sign
 * bit maps the unsigned order to the signed order. */
static void add_many(struct found *found, uint8_t type, const int64_t *values, size_t n,
                     uint64_t *largest)
{
    uint64_t turned = type == PCF_I64 ? 0 : (uint64_t)1 << 63;
    int64_t min = (int64_t)((uint64_t)values[0] ^ turned), max = min;
    int64_t last = found->has_last ? (int64_t)((uint64_t)found->last ^ turned) : min;
    int falls = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t value = (int64_t)((uint64_t)values[i] ^ turned);
        min = value < min ? value : min;
        max = value > max ? value : max;
        falls |= value < last;
        last = value;
    }
    found->falls |= falls;
    found->has_last = 1;
    found->last = values[n - 1];
    min = (int64_t)((uint64_t)min ^ turned);
    max = (int64_t)((uint64_t)max ^ turned);
    *largest = type == PCF_I64 && min < 0 ? UINT64_MAX : (uint64_t)max;
    if (!found->any || less(type, min, found->min))
        found->min = min;
    if (!found->any || less(type, found->max, max))
        found->max = max;
    found->any = 1;
}

/* Exclusive upper bound of the values; UINT64_MAX if type and references set none. */
static uint64_t limit_of(const struct pci_check *check, const struct pci_column *column)
{
    uint64_t limit = UINT64_MAX;
    if (column->desc->type == PCF_BOOL)
        limit = 2;
    else if (column->desc->type == PCF_U32)
        limit = (uint64_t)UINT32_MAX + 1;
    else if (column->desc->type == PCF_STRING)
        limit = check->file->strings ? check->file->strings->desc->rows : 0;
    if (column->references && column->references->rows < limit)
        limit = column->references->rows;
    return limit;
}

/* The root of stacks has no parent and no group. */
static int is_root(const struct pci_column *column, uint64_t row)
{
    return row == 0 && strcmp(column->table->name, "stacks") == 0;
}

static void beyond(struct pci_tally *tally, uint64_t row, int64_t value,
                   const struct pci_column *column, uint64_t limit)
{
    const char *what = column->references                 ? column->references->name
                       : column->desc->type == PCF_STRING ? "strings"
                                                          : NULL;
    if (what)
        pci_fault(tally, row, "%llu is beyond the %llu rows of %s", (unsigned long long)value,
                  (unsigned long long)limit, what);
    else
        pci_fault(tally, row, "%llu is not a value of type %s", (unsigned long long)value,
                  pcol_type_name((pcol_type)column->desc->type));
}

/* First and last value of a LINEAR column without validity. 0 if a value overflows 64 bits. */
static int linear_ends(const struct pcf_data *data, int64_t ends[2])
{
    int64_t rise, rows = (int64_t)data->rows - 1;
    ends[0] = ends[1] = data->base;
    if (data->type == PCF_F64 || data->step == 0)
        return 1;
    if (__builtin_mul_overflow(data->step, rows, &rise))
        return 0;
    if (data->type == PCF_I64)
        return !__builtin_add_overflow(data->base, rise, &ends[1]);
    ends[1] = (int64_t)((uint64_t)data->base + (uint64_t)rise);
    return rise < 0 ? (uint64_t)ends[1] <= (uint64_t)ends[0]
                    : (uint64_t)ends[1] >= (uint64_t)ends[0];
}

/* First row of a run; `run` may be the number of runs. The ends of runs are already verified to be
 * readable and ascending. */
static uint64_t run_start(const struct pci_check *check, const struct pci_column *column,
                          uint64_t run)
{
    const struct pci_column *ends = &check->file->columns[column->desc->first_child];
    int64_t end = 0;
    if (run) /* 0 again if the file changed meanwhile */
        (void)!pci_get(check->file, ends, run - 1, &end, &(int){0}, NULL);
    return (uint64_t)end;
}

/* Reads all values in order. `source` may be the child of `column` with the values of runs. */
static pcol_status read_values(struct pci_check *check, const struct pci_column *column,
                               const struct pci_column *source, struct found *found,
                               pcol_error *err)
{
    uint64_t rows = source->desc->rows, limit = limit_of(check, column);
    struct pci_tally tally = PCI_TALLY(check, column->table->name, column->name);
    size_t n;
    for (uint64_t row = 0; row < rows; row += n) {
        PCI_TRY(pci_check_read(check, source, row, rows, 0, &n, err));
        if (!n)
            break;
        if (column->desc->type != PCF_F64 && !memchr(check->valid[0], 0, n)) {
            struct found before = *found;
            uint64_t largest;
            add_many(found, column->desc->type, check->values[0], n, &largest);
            if (largest < limit || limit == UINT64_MAX)
                continue;
            *found = before; /* a value is out of range: find it */
        }
        for (size_t i = 0; i < n; i++) {
            int64_t value = check->values[0][i];
            if (!check->valid[0][i]) {
                found->nulls++;
                continue;
            }
            add(found, column->desc->type, value);
            if ((uint64_t)value < limit || limit == UINT64_MAX)
                continue;
            uint64_t at = source == column ? row + i : run_start(check, column, row + i);
            if (!is_root(column, at) ||
                (source != column && run_start(check, column, row + i + 1) > 1))
                beyond(&tally, at, value, column, limit);
        }
    }
    if (tally.count || check->untrusted[source->number])
        check->untrusted[column->number] = 1;
    pci_tally_end(&tally);
    return PCOL_OK;
}

static pcol_status find_values(struct pci_check *check, const struct pci_column *column,
                               struct found *found, pcol_error *err)
{
    const struct pcf_data *data = column->data;
    uint64_t limit = limit_of(check, column);
    int64_t ends[2];
    if (data->encoding == PCF_RUNS)
        return read_values(check, column, &check->file->columns[column->desc->first_child + 1],
                           found, err);
    if (data->encoding != PCF_LINEAR || data->validity || !data->rows)
        return read_values(check, column, column, found, err);
    if (data->flags & PCF_COLUMN_DEFAULT_NULL) {
        found->nulls = data->rows;
        return PCOL_OK;
    }
    if (!linear_ends(data, ends))
        return read_values(check, column, column, found, err);
    for (int i = 0; i < 2; i++) {
        uint64_t row = i ? data->rows - 1 : 0;
        struct pci_tally tally = PCI_TALLY(check, column->table->name, column->name);
        add(found, column->desc->type, ends[i]);
        if ((uint64_t)ends[i] >= limit && limit != UINT64_MAX && !is_root(column, row)) {
            beyond(&tally, row, ends[i], column, limit);
            check->untrusted[column->number] = 1;
        }
    }
    return PCOL_OK;
}

static void compare(struct pci_check *check, const struct pci_column *column,
                    const struct found *found)
{
    const struct pcf_column *desc = column->desc;
    struct pci_tally tally = PCI_TALLY(check, column->table->name, column->name);
    if (found->nulls != desc->null_count)
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "%llu rows are null, not %llu",
                  (unsigned long long)found->nulls, (unsigned long long)desc->null_count);
    if (found->nulls && !(desc->flags & PCF_COLUMN_NULLABLE))
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "there are nulls in a column that has none");
    if (desc->flags & PCF_COLUMN_STATS && !found->any)
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "there is no value, but statistics");
    if (desc->flags & PCF_COLUMN_STATS && found->any &&
        (less(desc->type, found->min, desc->min) || less(desc->type, desc->min, found->min)))
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "the smallest value is not the one stated");
    if (desc->flags & PCF_COLUMN_STATS && found->any &&
        (less(desc->type, found->max, desc->max) || less(desc->type, desc->max, found->max)))
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "the largest value is not the one stated");
    if (desc->flags & PCF_COLUMN_ASCENDING && (found->falls || found->nulls))
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "the values do not ascend as stated");
}

static int compare_text(pcol_str a, pcol_str b)
{
    size_t shared = a.size < b.size ? a.size : b.size;
    int order = shared ? memcmp(a.data, b.data, shared) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* Texts of a BYTES column; those of `strings` and of FRONT columns must ascend. */
static pcol_status check_bytes(struct pci_check *check, const struct pci_column *column,
                               pcol_error *err)
{
    struct pci_tally tally = PCI_TALLY(check, column->table->name, column->name);
    int pool = column == check->file->strings || column->desc->encoding == PCF_FRONT;
    struct found found = {0};
    pcol_str before = {"", 0};
    if (column->desc->encoding == PCF_LINEAR) {
        found.nulls = column->desc->rows; /* a LINEAR column of texts is all null */
        compare(check, column, &found);
        return PCOL_OK;
    }
    for (uint64_t row = 0; row < column->desc->rows && !check->stop; row++) {
        pcol_error error = {0};
        pcol_str text;
        int valid;
        if (pci_get_str(check->file, column, row, &text, &valid, &error) != PCOL_OK) {
            pcol_status status = pci_fault_error(check, &error, err);
            check->untrusted[column->number] = 1;
            return status;
        }
        found.nulls += !valid;
        if (pool && row && compare_text(before, text) >= 0) {
            pci_fault(&tally, row, "the string does not come after the one before");
            check->untrusted[column->number] = 1;
            if (tally.count == PCI_CHECK_SAME)
                break;
        }
        before = text;
    }
    compare(check, column, &found);
    return PCOL_OK;
}

static pcol_status check_column(struct pci_check *check, const struct pci_column *column,
                                pcol_error *err)
{
    struct found found = {0};
    PCI_TRY(pci_check_structure(check, column, err));
    if (check->untrusted[column->number])
        return PCOL_OK;
    if (column->desc->type == PCF_BYTES)
        return check_bytes(check, column, err);
    PCI_TRY(find_values(check, column, &found, err));
    if (!check->untrusted[column->number])
        compare(check, column, &found);
    return PCOL_OK;
}

/* A table may declare any number of rows without bytes: implausible numbers are not read. */
static int has_plausible_rows(struct pci_check *check, const struct pci_table *table)
{
    struct pci_tally tally = PCI_TALLY(check, table->name, "");
    const pcol_file *file = check->file;
    int plausible = pcf_table_plausible(table->name, strlen(table->name), table->rows, file->size);
    if (plausible && pcf_values_plausible(file->values, file->size))
        return 1;
    pci_fault(&tally, PCOL_POSITION_UNKNOWN,
              "implausible number of %s, %llu in a file of %llu bytes",
              plausible ? "values of all tables" : "rows",
              (unsigned long long)(plausible ? file->values : table->rows),
              (unsigned long long)file->size);
    for (uint32_t i = 0; i < table->column_count; i++)
        check->untrusted[table->columns[i].number] = 1;
    return 0;
}

pcol_status pci_check_columns(struct pci_check *check, pcol_error *err)
{
    const pcol_file *file = check->file;
    for (uint32_t t = 0; t < file->index.header.table_count && !check->stop; t++) {
        const struct pci_table *table = &file->tables[t];
        struct pci_tally tally = PCI_TALLY(check, table->name, "");
        tally.note = 1;
        if (!table->supported) {
            pci_fault(&tally, PCOL_POSITION_UNKNOWN,
                      "this table needs a newer reader, it was not checked");
            continue;
        }
        if (!has_plausible_rows(check, table))
            continue;
        for (uint32_t c = 0; c < table->column_count && !check->stop; c++) {
            const struct pci_column *column = &table->columns[c];
            tally.column = column->name;
            if (!column->supported)
                pci_fault(&tally, PCOL_POSITION_UNKNOWN,
                          "this column needs a newer reader, only its checksum was checked");
            else if (!check->untrusted[column->number])
                PCI_TRY(check_column(check, column, err));
        }
    }
    return PCOL_OK;
}
