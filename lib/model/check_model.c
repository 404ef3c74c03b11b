/*
 * check_model.c - rules of the data models
 *
 * The rules of v2 apply to every file. A violation of those of v1 is a note: such profiles are
 * valid but cannot be exported as v1. Tests: tests/unit/test_check.c.
 */
#include "model/check.h"
#include "model/types.h"

#include "util/alloc.h"
#include "util/strbuf.h"

struct model {
    struct pci_check *check;
    uint64_t sources; /* 0: no sources */
};

/* 1 if rows can be read one by one: 2^32 rows without bytes would take minutes. Untrusted columns
 * are skipped anyway. */
static int has_plausible_rows(struct pci_check *check, const char *table, const char *name)
{
    const struct pci_table *t = pci_table_find(check->file, table);
    struct pci_tally tally = PCI_TALLY(check, table, "");
    if (t && pci_column_find(t, name) && !pci_check_column(check, table, name))
        return 1;
    if (pci_check_row_count(check->file, table, NULL) == PCOL_OK)
        return 1;
    pci_fault(
        &tally, PCOL_POSITION_UNKNOWN, "implausible number of rows, %llu in a file of %llu bytes",
        (unsigned long long)pci_rows(check->file, table), (unsigned long long)check->file->size);
    return 0;
}

/* v1 requires names of functions. */
static pcol_status check_names(const struct model *model, pcol_error *err)
{
    struct pci_check *check = model->check;
    const struct pci_table *table = pci_table_find(check->file, "functions");
    const struct pci_column *name = table ? pci_column_find(table, "name") : NULL;
    struct pci_tally tally = PCI_TALLY(check, "functions", "name");
    tally.note = 1;
    if (!table || (name && !pci_check_column(check, "functions", "name")))
        return PCOL_OK;
    for (uint64_t row = 0; row < table->rows && !check->stop; row++) {
        pcol_str text = {"", 0};
        pcol_error error = {0};
        int valid = 0;
        if (name && pci_get_str(check->file, name, row, &text, &valid, &error) != PCOL_OK)
            return pci_fault_error(check, &error, err);
        if (!valid || !text.size)
            pci_fault(&tally, row, valid ? "the name is empty" : "there is no name");
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}

/* Numbers that may not be negative: reports faults or notes. */
static pcol_status check_positive(const struct model *model, const char *table, const char *name,
                                  int note, const char *what, pcol_error *err)
{
    struct pci_check *check = model->check;
    const struct pci_column *column = pci_check_column(check, table, name);
    struct pci_tally tally = PCI_TALLY(check, table, name);
    uint64_t rows = pci_rows(check->file, table);
    size_t n;
    tally.note = note;
    if (!column)
        return PCOL_OK;
    if (column->desc->encoding == PCF_LINEAR && column->desc->step == 0 && rows)
        rows = 1; /* all values are equal */
    for (uint64_t row = 0; row < rows; row += n) {
        PCI_TRY(pci_check_read(check, column, row, rows, 0, &n, err));
        if (!n)
            break;
        for (size_t i = 0; i < n; i++) {
            if (check->valid[0][i] && check->values[0][i] < 0)
                pci_fault(&tally, row + i, "%lld is negative%s", (long long)check->values[0][i],
                          what);
        }
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}

/* The key (sample_id, type, unit) of v2 is not unique if a source has a duplicate type and unit. */
static void check_list(const struct model *model, const struct pci_types *types,
                       const uint32_t *list, uint32_t count, uint64_t source)
{
    struct pci_tally tally = PCI_TALLY(model->check, "sample_values", "type");
    tally.note = 1;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < i && k < PCI_CHECK_ROWS; k++) {
            pcol_str type = types->type[list[i]], unit = types->unit[list[i]];
            pcol_str other = types->type[list[k]], other_unit = types->unit[list[k]];
            if (!pci_str_same(type, other) || !pci_str_same(unit, other_unit))
                continue;
            pci_fault(&tally, PCOL_POSITION_UNKNOWN,
                      "v2 key not satisfiable by this source: source %llu has a sample type twice",
                      (unsigned long long)source + 1);
            return;
        }
    }
}

static pcol_status check_lists(const struct model *model, const struct pci_types *types,
                               pcol_error *err)
{
    uint64_t sources = types->list_rows ? model->sources : 1;
    uint32_t count, *list = pci_malloc(types->count + (size_t)1, sizeof *list);
    pcol_status status = list ? PCOL_OK : pci_fail_memory(err);
    for (uint64_t source = 0; source < sources && status == PCOL_OK && !model->check->stop;
         source++) {
        pcol_error error = {0};
        status = pci_types_of_source(types, source, list, &count, &error);
        if (status != PCOL_OK)
            status = pci_fault_error(model->check, &error, err);
        else
            check_list(model, types, list, count, source);
    }
    pci_free(list);
    return status;
}

/* The sample type of v1: counts from 1 to 2^31 - 1. */
static pcol_status check_counts(const struct model *model, const struct pci_column *column,
                                pcol_error *err)
{
    struct pci_check *check = model->check;
    uint64_t rows = pci_rows(check->file, "samples");
    struct pci_tally tally = PCI_TALLY(check, "samples", column->name);
    size_t n;
    tally.note = 1;
    for (uint64_t row = 0; row < rows; row += n) {
        PCI_TRY(pci_check_read(check, column, row, rows, 0, &n, err));
        if (!n)
            break;
        for (size_t i = 0; i < n; i++)
            if (check->valid[0][i] && (check->values[0][i] < 1 || check->values[0][i] > INT32_MAX))
                pci_fault(&tally, row + i, "v1 cannot hold the value %lld",
                          (long long)check->values[0][i]);
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}

static pcol_status check_values(const struct model *model, pcol_error *err)
{
    struct pci_tally tally = PCI_TALLY(model->check, "sample_types", "");
    struct pci_types types;
    pcol_error error = {0};
    pcol_status status = pci_types_open(model->check->file, &types, &error);
    int counts = 0;
    if (status != PCOL_OK)
        return pci_fault_error(model->check, &error, err);
    status = check_lists(model, &types, err);
    for (uint32_t k = 0; k < types.count && status == PCOL_OK; k++) {
        if (!pci_str_is(types.type[k], "samples") || !pci_str_is(types.unit[k], "count") ||
            types.is_gauge[k] || types.ordinal[k] || !types.columns[k] ||
            types.columns[k]->desc->type != PCF_I64)
            continue;
        counts = 1;
        status = check_counts(model, types.columns[k], err);
        break;
    }
    tally.note = 1;
    if (!counts && pci_rows(model->check->file, "samples"))
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "v1 needs the sample type samples/count");
    pci_types_close(&types);
    return status;
}

pcol_status pci_check_model(struct pci_check *check, pcol_error *err)
{
    static const char *const tables[] = {"sources", "samples", "sample_types", "source_types"};
    struct model model = {.check = check};
    const char *hidden = ", v2 shows none";
    if (!has_plausible_rows(check, "sources", "type") ||
        !has_plausible_rows(check, "functions", "name"))
        return PCOL_OK;
    model.sources = pci_rows(check->file, "sources");
    PCI_TRY(check_names(&model, err));
    PCI_TRY(check_positive(&model, "locations", "line", 1, hidden, err));
    PCI_TRY(check_positive(&model, "functions", "start_line", 1, hidden, err));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (!pci_check_table(check, tables[i]))
            return PCOL_OK;
    }
    return check->stop ? PCOL_OK : check_values(&model, err);
}
