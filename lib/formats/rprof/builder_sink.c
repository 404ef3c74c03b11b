/*
 * builder_sink.c - samples, segments and file lines of R's profiles to a builder (builder_sink.h)
 *
 * The builder may have other sources already: rows are counted by the columns' lengths. Optional
 * columns are created with their first cell.
 */
#include "formats/rprof/builder_sink.h"

#include "builder/builder.h"

static pcol_status set(pcol_builder *b, uint32_t table, const char *name, pcol_type type,
                       uint64_t row, int64_t value, pcol_error *err)
{
    uint32_t column;
    PCI_TRY(pci_builder_column(b, table, name, type, 0, &column, err));
    return pcol_builder_set_i64(b, column, row, value, err);
}

pcol_status pci_rprof_record_segment(struct pci_rprof_record *record,
                                     const struct pci_rprof_header *header, int crlf,
                                     const uint8_t *text, size_t size, pcol_error *err)
{
    pcol_builder *b = record->import->builder;
    uint32_t table, column;
    PCI_TRY(pcol_builder_table(b, "rprof_segments", &table, err));
    PCI_TRY(pci_builder_column(b, table, "source", PCOL_U32, PCI_T_SOURCES + 1, &column, err));
    uint64_t row = record->segment = b->columns[column]->rows;
    PCI_TRY(pcol_builder_set_i64(b, column, row, record->import->source, err));
    PCI_TRY(set(b, table, "first_sample", PCOL_U64, row, (int64_t)b->sample_count, err));
    if (header && header->memory)
        PCI_TRY(set(b, table, "memory", PCOL_BOOL, row, 1, err));
    if (header && header->gc)
        PCI_TRY(set(b, table, "gc", PCOL_BOOL, row, 1, err));
    if (header && header->line)
        PCI_TRY(set(b, table, "line", PCOL_BOOL, row, 1, err));
    if (header && header->interval.known)
        PCI_TRY(set(b, table, "interval_us", PCOL_I64, row, header->interval.value, err));
    if (crlf)
        PCI_TRY(set(b, table, "crlf", PCOL_BOOL, row, 1, err));
    if (!text)
        return PCOL_OK;
    PCI_TRY(pci_builder_column(b, table, "text", PCOL_STRING, 0, &column, err));
    return pcol_builder_set_str(b, column, row, (const char *)text, size, err);
}

static pcol_status file_columns(struct pci_rprof_record *record, pcol_error *err)
{
    pcol_builder *b = record->import->builder;
    uint32_t segments, table;
    if (record->has_files)
        return PCOL_OK;
    record->has_files = 1;
    PCI_TRY(pcol_builder_table(b, "rprof_segments", &segments, err));
    PCI_TRY(pcol_builder_table(b, "rprof_files", &table, err));
    PCI_TRY(pci_builder_column(b, table, "segment", PCOL_U32, segments + 1, &record->file_segment,
                               err));
    PCI_TRY(pci_builder_column(b, table, "before_sample", PCOL_U64, 0, &record->file_before, err));
    PCI_TRY(pci_builder_column(b, table, "number", PCOL_I64, 0, &record->file_number, err));
    PCI_TRY(pci_builder_column(b, table, "path", PCOL_STRING, 0, &record->file_path, err));
    return pci_builder_column(b, table, "text", PCOL_STRING, 0, &record->file_text, err);
}

pcol_status pci_rprof_record_file(struct pci_rprof_record *record,
                                  const struct pci_rprof_file *file, const uint8_t *text,
                                  size_t size, uint32_t *path, pcol_error *err)
{
    pcol_builder *b = record->import->builder;
    *path = PCOL_NONE;
    PCI_TRY(file_columns(record, err));
    uint64_t row = b->columns[record->file_segment]->rows;
    PCI_TRY(pcol_builder_set_i64(b, record->file_segment, row, (int64_t)record->segment, err));
    PCI_TRY(pcol_builder_set_i64(b, record->file_before, row, (int64_t)b->sample_count, err));
    const char *name = file ? (const char *)file->path : "";
    size_t name_size = file ? file->path_size : 0;
    PCI_TRY(pcol_builder_string(b, name, name_size, path, err));
    PCI_TRY(pcol_builder_set_str(b, record->file_path, row, name, name_size, err));
    if (file && file->numbered && file->number.known)
        PCI_TRY(pcol_builder_set_i64(b, record->file_number, row, file->number.value, err));
    if (!text)
        return PCOL_OK;
    return pcol_builder_set_str(b, record->file_text, row, (const char *)text, size, err);
}

pcol_status pci_rprof_record_sample(struct pci_rprof_record *record, uint32_t stack,
                                    const pcol_value *values, size_t count, pcol_error *err)
{
    pcol_sample sample = PCOL_INIT(pcol_sample);
    sample.source = record->import->source;
    sample.stack = stack;
    sample.values = values;
    sample.value_count = count;
    sample.thread = PCOL_NONE;
    return pcol_builder_sample(record->import->builder, &sample, NULL, err);
}

pcol_status pci_rprof_record_text(struct pci_rprof_record *record, const uint8_t *text, size_t size,
                                  pcol_error *err)
{
    pcol_builder *b = record->import->builder;
    if (!record->has_text)
        PCI_TRY(pci_builder_column(b, PCI_T_SAMPLES, "text", PCOL_STRING, 0, &record->text, err));
    record->has_text = 1;
    return pcol_builder_set_str(b, record->text, b->sample_count - 1, (const char *)text, size,
                                err);
}
