/*
 * write_format.c - calling the exporter of a format, compressing its output if asked
 */
#include "registry/registry.h"

#include "model/check.h"
#include "model/table.h"
#include "reader/file.h"
#include "stream/deflate.h"
#include "util/thread_pool.h"

#include <inttypes.h>
#include <string.h>

#define PIECE_BEHIND ((size_t)1 << 16)
#define PIECES_BEHIND 8u

/* The target writes to a ring, and another thread takes from there to the sink. */
static pcol_status write_beside(const struct pci_format *target, struct pci_export *export,
                                pcol_error *err)
{
    struct pci_write_pipe *behind;
    PCI_TRY(pci_write_pipe_new(export->sink, PIECE_BEHIND, PIECES_BEHIND, &behind, err));
    export->sink = pci_write_pipe_sink(behind);
    pcol_status status = target->write(export, err);
    if (status == PCOL_OK)
        status = pci_write_pipe_finish(behind, err);
    pci_write_pipe_free(behind);
    return status;
}

static pcol_status write_compressed(const struct pci_format *target, struct pci_export *export,
                                    pcol_error *err)
{
    struct pci_gzip_writer *gz;
    int beside =
        export->options->threads > 1 && pcol_file_size(export->file) >= PCI_PARALLEL_MIN_BYTES / 4;
    PCI_TRY(pci_gzip_writer_new(export->sink, &gz, err));
    export->sink = pci_gzip_writer_sink(gz);
    pcol_status status = beside ? write_beside(target, export, err) : target->write(export, err);
    if (status == PCOL_OK)
        status = pci_gzip_writer_finish(gz, err);
    pci_gzip_writer_free(gz);
    return status;
}

const struct pci_holds *pci_format_holds(const char *format)
{
    const struct pci_format *target = pci_format_find(format);
    return target ? target->holds : NULL;
}

pcol_status pci_export(const pcol_file *file, const char *format,
                       const pcol_export_options *options, pcol_sink sink, pcol_error *err)
{
    char names[160];
    pcol_export_options known = {0};
    if (!file || !format || !sink.write)
        return pci_fail(err, PCOL_E_ARGUMENT, "no file, no format or no sink");
    if (options && options->size < sizeof options->size)
        return pci_fail(err, PCOL_E_ARGUMENT, "options without a size");
    if (options)
        memcpy(&known, options, options->size < sizeof known ? options->size : sizeof known);
    if (known.compress > PCOL_COMPRESS_GZIP)
        return pci_fail(err, PCOL_E_ARGUMENT, "no such compression: %u", known.compress);
    const struct pci_format *target = pci_format_find(format);
    if (!target || !target->write) {
        pci_format_list(1, names, sizeof names);
        return pci_fail(err, PCOL_E_NOT_FOUND, "format '%s' cannot be written (%s can)", format,
                        names);
    }
    PCI_TRY(pci_plausible_all(file, err));
    PCI_TRY(pci_schema_verify(file, err));
    const struct pci_table *sources = pci_table_find(file, "sources");
    uint64_t count = sources ? sources->rows : 0;
    if (known.source_id > count)
        return pci_fail(err, PCOL_E_NOT_FOUND,
                        "there is no source %" PRIu64 ": the file has %" PRIu64, known.source_id,
                        count);
    struct pci_export export = {file, &known, 0, (uint32_t)count - 1, sink, target->holds};
    if (!count)
        export.first_source = 1, export.last_source = 0;
    if (known.source_id)
        export.first_source = export.last_source = (uint32_t)known.source_id - 1;
    int gzip = known.compress == PCOL_COMPRESS_AUTO ? target->info.writes == PCOL_WRITES_COMPRESSED
                                                    : known.compress == PCOL_COMPRESS_GZIP;
    PCI_TRY(gzip ? write_compressed(target, &export, err) : target->write(&export, err));
    return pci_kept(file, err);
}
