/*
 * check.c - pcol_file_check(): verification of bytes, then of all rules
 *
 * Every byte of a file belongs to the header, the index, a section, the padding or the end mark.
 * Opening verifies header, index and end mark; here sections are compared with their checksums and
 * padding with zero, so every flipped bit is found. Rules are checked on columns with valid bytes
 * only. Tests: tests/unit/test_check.c, tests/unit/test_check_labels.c, suite golden.
 */
#include "model/check.h"

#include "model/column_range.h"
#include "reader/row_references.h"

#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void emit(const struct pci_tally *tally, uint64_t row, const char *message)
{
    struct pci_check *check = tally->check;
    pcol_fault fault = {tally->note, tally->table, tally->column, row, message};
    if (!check->report)
        return;
    struct pci_left_scopes left = pci_leave_scopes();
    if (check->report(check->context, &fault))
        check->stop = 1;
    pci_enter_scopes(left);
}

void pci_fault(struct pci_tally *tally, uint64_t row, const char *format, ...)
{
    char message[256];
    va_list arguments;
    if (tally->check->stop)
        return;
    tally->check->faults += !tally->note;
    if (++tally->count > PCI_CHECK_SAME)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    emit(tally, row, message);
}

void pci_tally_end(struct pci_tally *tally)
{
    char message[64];
    if (tally->count <= PCI_CHECK_SAME || tally->check->stop)
        return;
    snprintf(message, sizeof message, "%llu more of this kind",
             (unsigned long long)(tally->count - PCI_CHECK_SAME));
    emit(tally, PCOL_POSITION_UNKNOWN, message);
}

pcol_status pci_fault_error(struct pci_check *check, const pcol_error *error, pcol_error *err)
{
    struct pci_tally tally = PCI_TALLY(check, error->table, error->column);
    if (error->status == PCOL_E_NO_MEMORY || error->status == PCOL_E_IO ||
        error->status == PCOL_E_CANCELLED) {
        if (err)
            *err = *error;
        return error->status;
    }
    /* Many tables read the string table; its faults are already reported. */
    const struct pci_column *strings = check->file->strings;
    if (strings && check->untrusted[strings->number] &&
        strcmp(error->table, strings->table->name) == 0)
        return PCOL_OK;
    pci_fault(&tally, error->row, "%s", error->message);
    return PCOL_OK;
}

static int readable(const struct pci_check *check, const struct pci_column *column)
{
    return column->supported && !check->untrusted[column->number];
}

const struct pci_column *pci_check_column(const struct pci_check *check, const char *table,
                                          const char *name)
{
    const struct pci_table *t = pci_table_find(check->file, table);
    const struct pci_column *column = t && t->supported ? pci_column_find(t, name) : NULL;
    return column && readable(check, column) ? column : NULL;
}

int pci_check_table(const struct pci_check *check, const char *table)
{
    const struct pci_table *t = pci_table_find(check->file, table);
    if (t && !t->supported)
        return 0;
    for (uint32_t i = 0; t && i < t->column_count; i++) {
        if (!readable(check, &t->columns[i]))
            return 0;
    }
    return 1;
}

pcol_status pci_check_read(struct pci_check *check, const struct pci_column *column, uint64_t row,
                           uint64_t rows, int to, size_t *n, pcol_error *err)
{
    pcol_error error = {0};
    pcol_status status;
    *n = check->stop ? 0 : rows - row < PCI_CHECK_ROWS ? (size_t)(rows - row) : PCI_CHECK_ROWS;
    if (!column || !*n) {
        memset(check->values[to], 0, *n * sizeof *check->values[to]);
        memset(check->valid[to], 0, *n);
        return PCOL_OK;
    }
    status = pci_read_unbounded(check->file, column, row, *n, check->values[to], check->valid[to],
                                &error);
    if (status == PCOL_OK)
        return PCOL_OK;
    *n = 0;
    check->untrusted[column->number] = 1;
    return pci_fault_error(check, &error, err);
}

pcol_status pci_check_read_rows(struct pci_check *check, const struct pci_column *column,
                                uint64_t row, uint64_t rows, uint64_t limit, int to, size_t *n,
                                pcol_error *err)
{
    PCI_TRY(pci_check_read(check, column, row, rows, to, n, err));
    for (size_t i = 0; i < *n; i++) {
        if (!check->valid[to][i] || (uint64_t)check->values[to][i] < limit)
            continue;
        struct pci_tally tally = PCI_TALLY(check, column->table->name, column->name);
        pci_fault(&tally, row + i, "%llu is beyond the %llu rows that it names one of",
                  (unsigned long long)check->values[to][i], (unsigned long long)limit);
        check->untrusted[column->number] = 1;
        *n = 0;
    }
    return PCOL_OK;
}

/* ---- bytes */

/* Maps columns of the index to columns of tables: children follow their parents. */
static void find_owners(const pcol_file *file, uint32_t *owner)
{
    uint32_t count = file->index.header.column_count;
    for (uint32_t i = 0; i < count; i++)
        owner[i] = i;
    for (uint32_t i = 0; i < count; i++) {
        const struct pcf_column *column = &file->index.columns[i];
        for (uint32_t k = 0; k < column->child_count; k++)
            owner[column->first_child + k] = owner[i];
    }
}

static void check_sections(struct pci_check *check, const uint32_t *owner)
{
    const pcol_file *file = check->file;
    for (uint32_t i = 0; i < file->index.header.section_count && !check->stop; i++) {
        const struct pcf_section *section = &file->index.sections[i];
        const struct pci_column *column = &file->columns[owner[section->column]];
        struct pci_tally tally = PCI_TALLY(check, column->table->name, column->name);
        int right = pcf_checksum(file->bytes + section->offset, section->size) == section->checksum;
        if (atomic_load(&file->lost))
            continue;
        atomic_store_explicit(&file->section_state[i],
                              right ? PCI_SECTION_VERIFIED : PCI_SECTION_WRONG,
                              memory_order_relaxed);
        if (right)
            continue;
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "the checksum of bytes %llu to %llu is wrong",
                  (unsigned long long)section->offset,
                  (unsigned long long)(section->offset + section->size - 1));
        check->untrusted[owner[section->column]] = 1;
    }
}

static void check_zero(struct pci_check *check, uint64_t from, uint64_t to)
{
    struct pci_tally tally = PCI_TALLY(check, "", "");
    for (uint64_t i = from; i < to; i++) {
        if (check->file->bytes[i]) {
            pci_fault(&tally, PCOL_POSITION_UNKNOWN, "byte %llu between sections is not zero",
                      (unsigned long long)i);
            return; /* one fault per gap */
        }
    }
}

static void check_padding(struct pci_check *check)
{
    const pcol_file *file = check->file;
    const struct pcf_header *header = &file->index.header;
    uint64_t at = header->index_offset + header->index_size;
    check_zero(check, header->header_size, header->index_offset);
    for (uint32_t i = 0; i < header->section_count && !check->stop; i++) {
        const struct pcf_section *section = &file->index.sections[i];
        check_zero(check, at, section->offset);
        at = section->offset + section->size;
    }
    check_zero(check, at, file->size - sizeof(struct pcf_end));
}

static pcol_status check_bytes(struct pci_check *check, pcol_error *err)
{
    uint32_t count = check->file->index.header.column_count;
    uint32_t *owner;
    PCI_TRY(PCI_MALLOC(owner, count + (size_t)1, err));
    find_owners(check->file, owner);
    check_sections(check, owner);
    pci_free(owner);
    PCI_TRY(pci_check_unchanged(check->file, err));
    check_padding(check);
    return PCOL_OK;
}

/* ---- the run */

static pcol_status run(struct pci_check *check, pcol_error *err)
{
    static pcol_status (*const parts[])(struct pci_check *, pcol_error *) = {
        check_bytes,      pci_check_columns, pci_check_schema,        pci_check_keys,
        pci_check_stacks, pci_check_zones,   pci_check_nodes,         pci_check_labels,
        pci_check_orders, pci_check_sums,    pci_check_function_sums, pci_check_label_rows,
        pci_check_plain,  pci_check_model,   pci_check_categories,    pci_check_sources,
    };
    size_t count = sizeof parts / sizeof *parts;
    if (check->depth < PCOL_CHECK_STRICT)
        count -= 7; /* from pci_check_sums on */
    for (size_t i = 0; i < count && !check->stop; i++) {
        pcol_error error = {0}; /* errors of a part are faults, too */
        if (parts[i](check, &error) != PCOL_OK)
            PCI_TRY(pci_fault_error(check, &error, err));
    }
    return PCOL_OK;
}

static void check_close(struct pci_check *check)
{
    for (size_t i = 0; i < PCI_CHECK_BUFFERS; i++) {
        pci_free(check->values[i]);
        pci_free(check->valid[i]);
    }
    pci_free(check->untrusted);
}

static pcol_status check_open(struct pci_check *check, pcol_error *err)
{
    int missing;
    check->untrusted = pci_calloc(check->file->index.header.column_count + (size_t)1, 1);
    missing = !check->untrusted;
    for (size_t i = 0; i < PCI_CHECK_BUFFERS; i++) {
        check->values[i] = pci_malloc(PCI_CHECK_ROWS, sizeof *check->values[i]);
        check->valid[i] = pci_malloc(PCI_CHECK_ROWS, 1);
        missing |= !check->values[i] || !check->valid[i];
    }
    return missing ? pci_fail_memory(err) : PCOL_OK;
}

/* ---- checks before copying */

/* Tables whose rows are copied unchanged. */
static pcol_status verify_copied(const pcol_file *file, pcol_error *err)
{
    for (uint32_t t = 0; t < file->index.header.table_count; t++) {
        const struct pci_table *table = &file->tables[t];
        int is_verified = (table->schema->table_flags & PCI_TABLE_VERIFIED) != 0;
        for (uint32_t c = 0; is_verified && c < table->column_count; c++)
            PCI_TRY(pci_verify(file, &table->columns[c], err));
    }
    return PCOL_OK;
}

/* Report function: the first fault becomes the error. */
static int keep_first(void *context, const pcol_fault *fault)
{
    if (!fault->note)
        (void)!pci_corrupt(context, fault->table, fault->column, fault->row, "%s", fault->message);
    return !fault->note;
}

pcol_status pci_check_before_copy(const pcol_file *file, int whole, pcol_error *err)
{
    pcol_error error = {0};
    struct pci_check check = {
        .file = file, .copied = 1, .report = keep_first, .context = err ? err : &error};
    pcol_status status = check_open(&check, err);
    if (status == PCOL_OK && whole)
        status = verify_copied(file, err);
    PCI_THEN(status, pci_schema_verify(file, err));
    PCI_THEN(status, pci_check_keys(&check, err));
    if (status == PCOL_OK && !check.stop)
        status = pci_check_sources(&check, err);
    if (status == PCOL_OK && !check.stop)
        status = pci_check_label_rows(&check, err);
    if (status == PCOL_OK && !check.stop)
        status = pci_check_categories(&check, err);
    if (status == PCOL_OK && !check.stop && whole)
        status = pci_check_nodes(&check, err);
    if (status == PCOL_OK && !check.stop && whole)
        status = pci_check_orders(&check, err);
    check_close(&check);
    return status == PCOL_OK && check.faults ? PCOL_E_CORRUPT : status;
}

/* The last group starts after the one before, within the locations. */
static pcol_status verify_last_group(const pcol_file *file, pcol_error *err)
{
    const struct pci_column *first;
    uint64_t groups = pci_rows(file, "location_groups");
    int64_t rows[2] = {-1, 0};
    int valid;
    PCI_TRY(pci_find_column(file, "location_groups", "first_location", PCI_TYPES_ROW, &first, err));
    if (!first || !groups)
        return PCOL_OK;
    if (groups > 1)
        PCI_TRY(pci_get(file, first, groups - 2, &rows[0], &valid, err));
    PCI_TRY(pci_get(file, first, groups - 1, &rows[1], &valid, err));
    return rows[0] < rows[1] ? PCOL_OK
                             : pci_corrupt(err, "location_groups", "first_location", groups - 1,
                                           "%lld is not after the row before", (long long)rows[1]);
}

/* Rows of sample_values and sample_locations are in the order of samples. */
static pcol_status verify_last_samples(const pcol_file *file, pcol_error *err)
{
    static const char *const tables[] = {"sample_values", "sample_locations"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const struct pci_table *table = pci_table_find(file, tables[i]);
        const struct pci_column *sample = table ? pci_column_find(table, "sample") : NULL;
        int64_t row; /* bounded by the reader */
        int valid;
        if (sample && sample->supported && table->rows)
            PCI_TRY(pci_get(file, sample, table->rows - 1, &row, &valid, err));
    }
    return PCOL_OK;
}

static pcol_status verify_structure(struct pci_check *check, pcol_error *err)
{
    PCI_TRY(pci_check_schema(check, err));
    if (!check->stop)
        PCI_TRY(pci_check_label_keys(check, err));
    if (check->stop)
        return PCOL_E_CORRUPT;
    PCI_TRY(verify_last_group(check->file, err));
    return verify_last_samples(check->file, err);
}

pcol_status pci_schema_verify(const pcol_file *file, pcol_error *err)
{
    pcol_error error = {0};
    struct pci_check check = {
        .file = file, .copied = 1, .report = keep_first, .context = err ? err : &error};
    pcol_file *f = (pcol_file *)(uintptr_t)file; /* the flag is a cache */
    if (atomic_load_explicit(&f->schema_known, memory_order_acquire))
        return PCOL_OK;
    PCI_TRY(PCI_CALLOC(check.untrusted, file->index.header.column_count + (size_t)1, err));
    uint64_t before = pci_partial_read_begin(3 + pci_rows(file, "label_keys"));
    pcol_status status = verify_structure(&check, err);
    pci_partial_read_end(before);
    pci_free(check.untrusted);
    if (status != PCOL_OK || check.faults)
        return status == PCOL_OK ? PCOL_E_CORRUPT : status;
    atomic_store_explicit(&f->schema_known, 1, memory_order_release);
    return PCOL_OK;
}

/* A column of row numbers is below its limit, which the reader enforces where it reads cells. Of
 * large tables the index has the maximum (check_schema.c); only foreign writers omit it. */
static pcol_status verify_bound(const pcol_file *file, const struct pci_column *column,
                                pcol_error *err)
{
    static const char *const small[] = {"locations", "source_types", "threads"};
    const char *table = column->table->name;
    struct pci_column_range range;
    int is_small = 0;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        is_small |= strcmp(table, small[i]) == 0;
    if (!is_small && column->desc->flags & PCF_COLUMN_STATS)
        return PCOL_OK;
    PCI_TRY(pci_column_range(file, column, NULL, 0, &range, err));
    if (range.max == 0 && strcmp(table, "stacks") == 0)
        return PCOL_OK; /* the root refers to nothing */
    if (range.min <= range.max && (range.min < 0 || (uint64_t)range.max >= column->limit))
        return pci_references_reject(column, PCOL_POSITION_UNKNOWN, &range.max, err);
    return PCOL_OK;
}

pcol_status pci_referrers_verify(const pcol_file *file, const char *table, pcol_error *err)
{
    int with_groups = strcmp(table, "locations") == 0; /* lists the groups as well */
    for (uint32_t i = 0; i < file->index.header.column_count; i++) {
        const struct pci_column *column = &file->columns[i];
        const char *to = column->table && column->schema ? column->schema->references : NULL;
        if (!to || (strcmp(to, table) != 0 && !(with_groups && strcmp(to, "location_groups") == 0)))
            continue;
        PCI_TRY(
            pci_find_column(file, column->table->name, column->name, PCI_TYPES_ROW, &column, err));
        PCI_TRY(verify_bound(file, column, err));
    }
    return PCOL_OK;
}

pcol_status pcol_file_check(const pcol_file *file, pcol_check_depth depth, pcol_fault_fn report,
                            void *context, const pcol_control *control, uint64_t *faults,
                            pcol_error *err)
{
    PCI_REQUIRE(faults, err);
    *faults = 0;
    PCI_REQUIRE(file, err);
    struct pci_check check = {.file = file, .depth = depth, .report = report, .context = context};
    pcol_status status;
    if ((unsigned)depth > PCOL_CHECK_STRICT)
        return pci_fail(err, PCOL_E_ARGUMENT, "no such depth of checking");
    if (depth < PCOL_CHECK_DEFAULT)
        return PCOL_OK; /* opening has verified it */
    struct pci_control scope;
    PCI_TRY(pci_control_init(&scope, control, "check", err));
    status = pci_control_enter(&scope, err);
    PCI_THEN(status, check_open(&check, err));
    PCI_THEN(status, run(&check, err));
    PCI_THEN(status, pci_check_unchanged(file, err));
    check_close(&check);
    pci_control_leave(&scope);
    *faults = status == PCOL_OK ? check.faults : 0;
    return status;
}
