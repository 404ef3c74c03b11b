/*
 * write_format.c - calls the exporter of a format, with compression in a second thread
 */
#include "registry/registry.h"

#include "model/check.h"
#include "model/table.h"
#include "model/types.h"
#include "reader/file.h"
#include "stream/deflate.h"
#include "util/alloc.h"
#include "util/sized_struct.h"
#include "util/thread_pool.h"

#include <inttypes.h>
#include <math.h>

#define PIPE_PIECE ((size_t)1 << 16)
#define PIPE_PIECES 8u

/* Run the exporter into a pipe, whose thread writes to the sink, that is, compresses. */
static pcol_status write_through_pipe(const struct pci_format *target, struct pci_export *export,
                                      pcol_error *err)
{
    struct pci_write_pipe *pipe;
    PCI_TRY(pci_write_pipe_new(export->sink, PIPE_PIECE, PIPE_PIECES, &pipe, err));
    export->sink = pci_write_pipe_sink(pipe);
    pcol_status status = target->write(export, err);
    PCI_THEN(status, pci_write_pipe_finish(pipe, err));
    pci_write_pipe_free(pipe);
    return status;
}

static pcol_status write_compressed(const struct pci_format *target, struct pci_export *export,
                                    pcol_error *err)
{
    struct pci_gzip_writer *gz;
    int parallel =
        export->options->threads > 1 && pcol_file_size(export->file) >= PCI_PARALLEL_MIN_BYTES / 4;
    PCI_TRY(pci_gzip_writer_new(export->sink, &gz, err));
    export->sink = pci_gzip_writer_sink(gz);
    pcol_status status =
        parallel ? write_through_pipe(target, export, err) : target->write(export, err);
    PCI_THEN(status, pci_gzip_writer_finish(gz, err));
    pci_gzip_writer_free(gz);
    return status;
}

const struct pci_capabilities *pci_format_capabilities(const char *format)
{
    const struct pci_format *target = pci_format_find(format);
    return target ? target->capabilities : NULL;
}

/* E_NOT_FOUND for a sample type that the sources lack, also for targets with all types. */
static pcol_status check_type(const struct pci_export *export, pcol_error *err)
{
    struct pci_types types;
    struct pci_selected_type chosen = {.rows = NULL};
    if (!export->options->sample_type || export->first_source > export->last_source)
        return PCOL_OK;
    PCI_TRY(pci_types_open(export->file, &types, err));
    pcol_status status = pci_types_select(&types, export->first_source, export->last_source,
                                          export->options->sample_type, &chosen, err);
    pci_free(chosen.rows);
    pci_types_close(&types);
    return status;
}

#define WRITTEN_SAMPLES (UINT64_C(1) << 24)
#define WRITTEN_PER_BYTE 8u /* real profiles have less than one sample for each byte */

/* A few bytes may be any number of equal samples: queries add them up quickly, but some formats
 * write one by one, or sort them. */
static pcol_status check_samples(const pcol_file *file, const struct pci_format *target,
                                 pcol_error *err)
{
    uint64_t samples = pci_rows(file, "samples");
    if (!target->writes_samples ||
        samples <= pci_file_limit(file, WRITTEN_SAMPLES, WRITTEN_PER_BYTE))
        return PCOL_OK;
    return pci_error_option(
        err, "PCOL_IMPORT_TRUSTED",
        pci_fail(err, PCOL_E_LIMIT,
                 "%" PRIu64 " samples are too many to be written one by one for a file of %" PRIu64
                 " bytes; if you trust the file, open it as trusted",
                 samples, file->input_bytes));
}

pcol_status pci_export(const pcol_file *file, const char *format,
                       const pcol_export_options *options, pcol_sink sink, pcol_error *err)
{
    char names[PCI_FORMAT_NAMES_SIZE];
    pcol_export_options copy;
    if (!file || !format || !sink.write)
        return pci_fail(err, PCOL_E_ARGUMENT, "no file, no format or no sink");
    PCI_STRUCT_READ(pcol_export_options, copy, options, err);
    if (copy.compress > PCOL_COMPRESS_GZIP)
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown compression: %u", copy.compress);
    if (isnan(copy.node_fraction) || isnan(copy.edge_fraction))
        return pci_fail(err, PCOL_E_ARGUMENT, "a fraction of nodes or edges is not a number");
    const struct pci_format *target = pci_format_find(format);
    if (!target || !target->write) {
        pci_format_names(1, names);
        return pci_fail(err, PCOL_E_NOT_FOUND, "format '%s' cannot be written (%s can)", format,
                        names);
    }
    PCI_TRY(pci_check_row_counts(file, err));
    PCI_TRY(check_samples(file, target, err));
    PCI_TRY(pci_schema_verify(file, err));
    const struct pci_table *sources = pci_table_find(file, "sources");
    uint64_t count = sources ? sources->rows : 0;
    if (copy.source_id > count)
        return pci_fail(err, PCOL_E_NOT_FOUND,
                        "there is no source %" PRIu64 ": the file has %" PRIu64, copy.source_id,
                        count);
    struct pci_export export = {file, &copy, 0, (uint32_t)count - 1, sink, target->capabilities};
    if (!count)
        export.first_source = 1, export.last_source = 0;
    if (copy.source_id)
        export.first_source = export.last_source = (uint32_t)copy.source_id - 1;
    PCI_TRY(check_type(&export, err));
    int gzip = copy.compress == PCOL_COMPRESS_AUTO ? target->info.writes == PCOL_WRITES_COMPRESSED
                                                   : copy.compress == PCOL_COMPRESS_GZIP;
    PCI_TRY(gzip ? write_compressed(target, &export, err) : target->write(&export, err));
    return pci_check_unchanged(file, err);
}
