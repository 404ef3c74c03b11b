/*
 * import.c - public import functions: open the input, recognise its format, call the importer
 *
 * All allocations of an import are charged to the builder's budget. Tests:
 * tests/unit/test_import_budget.c, tests/cli.
 */
#include "registry/registry.h"
#include "stream/input_open.h"

#include "builder/builder.h"
#include "merge/merge.h"
#include "reader/file.h"
#include "util/alloc.h"
#include "util/control.h"
#include "util/sized_struct.h"

#include <string.h>

/* Copy and validate the caller's options; members unknown to it are 0. */
static pcol_status copy_options(const pcol_import_options *given, pcol_import_options *options,
                                pcol_error *err)
{
    PCI_STRUCT_READ(pcol_import_options, *options, given, err);
    if (options->format && !strcmp(options->format, "auto"))
        options->format = NULL;
    PCI_TRY(pci_metas_check(options->meta, options->meta_count, err));
    if (options->start_size && !options->start)
        return pci_fail(err, PCOL_E_ARGUMENT, "start_size is set, but start is NULL");
    if (options->flags & ~(PCOL_IMPORT_TRUSTED | PCOL_IMPORT_PACKED | PCOL_IMPORT_REBASE))
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown flags of an import: 0x%x", options->flags);
    if (options->open_flags & ~(PCOL_OPEN_COPY | PCOL_OPEN_GUARD | PCOL_OPEN_UNVERIFIED))
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown flags for opening: 0x%x",
                        options->open_flags);
    return PCOL_OK;
}

static pcol_status choose_format(struct pci_input *input, const char *name,
                                 const struct pci_format **format, pcol_error *err)
{
    char names[PCI_FORMAT_NAMES_SIZE];
    if (!name)
        return pci_format_detect(input, format, err);
    *format = pci_format_find(name);
    if (*format && pci_format_reads(*format))
        return PCOL_OK;
    pci_format_names(0, names);
    return pci_fail(err, PCOL_E_NOT_FOUND, "format '%s' cannot be read (%s can)", name, names);
}

/* Convert the input to the bytes of another format in memory, and import those. */
static pcol_status import_converted(const struct pci_format *format, struct pci_import *import,
                                    pcol_error *err)
{
    struct pci_input input;
    struct pci_import inner = *import;
    uint8_t *data;
    size_t size;
    PCI_TRY(format->convert(import, &data, &size, err));
    pcol_status status = pci_input_open_memory(&input, data, size, import->input->name, NULL, err);
    if (status == PCOL_OK) {
        inner.input = &input;
        status = pci_format_find(format->read_as)->read(&inner, err);
        import->source = inner.source;
        pci_input_close(&input);
    }
    pci_free(data);
    return status;
}

static pcol_status read_input(pcol_builder *builder, const struct pci_format *format,
                              struct pci_input *input, const pcol_import_options *options,
                              pcol_error *err)
{
    struct pci_import import = {builder, input, options, format->info.name, pci_schemas, PCOL_NONE};
    pci_builder_begin_input(builder);
    return pci_builder_end_input(builder, format->read ? format->read(&import, err)
                                                       : import_converted(format, &import, err));
}

/* Import into a builder of its own and merge that, because merging rebases. */
static pcol_status import_rebased(pcol_builder *builder, const struct pci_format *format,
                                  struct pci_input *input, const pcol_import_options *options,
                                  pcol_error *err)
{
    pcol_import_options rest = {.size = sizeof rest, .flags = PCOL_IMPORT_REBASE};
    pcol_builder *own;
    pcol_file *file = NULL;
    PCI_TRY(pcol_builder_new(NULL, &own, err));
    pcol_status status = read_input(own, format, input, options, err);
    PCI_THEN(status, pcol_builder_file(own, PCOL_WRITE_QUICK, NULL, &file, err));
    PCI_THEN(status, pci_merge_file(builder, file, &rest, 0, UINT64_MAX - 1, err));
    pcol_file_close(file);
    pcol_builder_free(own);
    return status;
}

static pcol_status import_input(pcol_builder *builder, struct pci_input *input,
                                const pcol_import_options *options, pcol_error *err)
{
    const struct pci_format *format;
    pcol_status status = choose_format(input, options->format, &format, err);
    if (status == PCOL_OK) {
        pci_control_set_format(format->info.name);
        int is_pcol = format == pci_format_find("pcol");
        status = (options->flags & PCOL_IMPORT_REBASE) && !is_pcol
                     ? import_rebased(builder, format, input, options, err)
                     : read_input(builder, format, input, options, err);
        if (status == PCOL_E_LIMIT && err && err->offset == PCOL_POSITION_UNKNOWN && !err->line &&
            builder->budget.exceeded)
            err->offset = input->offset;
        if (status != PCOL_OK)
            pci_input_convert_offset(input, err);
    }
    pci_input_close(input);
    return status;
}

/* Source of the bytes: `path`, `data`, `reader` or `fd`. */
struct origin {
    const char *path, *name;
    const void *data;
    pcol_reader reader;
    size_t size;
    int fd;
};

static pcol_status open_origin(struct pci_input *input, const struct origin *origin,
                               const struct pci_input_options *options, pcol_error *err)
{
    return origin->path   ? pci_input_open_path(input, origin->path, options, err)
           : origin->data ? pci_input_open_memory(input, origin->data, origin->size, origin->name,
                                                  options, err)
           : origin->reader.read
               ? pci_input_open_reader(input, origin->reader, origin->name, options, err)
               : pci_input_open_fd(input, origin->fd, origin->name, options, err);
}

/* Import within one scope of the builder's budget. */
static pcol_status import_origin(pcol_builder *builder, const struct origin *origin,
                                 const pcol_import_options *given, pcol_error *err)
{
    pcol_import_options options;
    struct pci_input input;
    struct pci_budget *budget = &builder->budget;
    struct pci_control scope;
    PCI_TRY(copy_options(given, &options, err));
    PCI_TRY(pci_control_init(&scope, options.control, "read", err));
    struct pci_input_options input_options = {.max_bytes = options.max_input_bytes,
                                              .threads = options.threads,
                                              .budget = budget,
                                              .start = options.start,
                                              .start_size = options.start_size};
    budget->used = 1;
    budget->trusted |= (options.flags & PCOL_IMPORT_TRUSTED) != 0;
    struct pci_budget *enclosing = pci_budget_enter(budget);
    pcol_status status = pci_control_enter(&scope, err);
    PCI_THEN(status, open_origin(&input, origin, &input_options, err));
    PCI_THEN(status, import_input(builder, &input, &options, err));
    pci_control_leave(&scope);
    pci_budget_leave(enclosing);
    return status;
}

pcol_status pcol_import_path(pcol_builder *builder, const char *path,
                             const pcol_import_options *options, pcol_error *err)
{
    if (!builder || !path)
        return pci_fail(err, PCOL_E_ARGUMENT, "no builder or no path");
    PCI_TRY(pci_builder_check_open(builder, err));
    return import_origin(builder, &(struct origin){.path = path}, options, err);
}

pcol_status pcol_import_fd(pcol_builder *builder, int fd, const char *name,
                           const pcol_import_options *options, pcol_error *err)
{
    PCI_TRY(pci_builder_check_open(builder, err));
    return import_origin(builder, &(struct origin){.fd = fd, .name = name}, options, err);
}

pcol_status pcol_import_memory(pcol_builder *builder, const void *data, size_t size,
                               const char *name, const pcol_import_options *options,
                               pcol_error *err)
{
    if (!builder || (!data && size))
        return pci_fail(err, PCOL_E_ARGUMENT, "no builder or no data");
    PCI_TRY(pci_builder_check_open(builder, err));
    struct origin from = {.data = data ? data : "", .size = size, .name = name};
    return import_origin(builder, &from, options, err);
}

pcol_status pcol_import_reader(pcol_builder *builder, pcol_reader reader, const char *name,
                               const pcol_import_options *options, pcol_error *err)
{
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE(reader.read, err);
    return import_origin(builder, &(struct origin){.reader = reader, .name = name}, options, err);
}

/* Counts the file as an input for the budget. */
static pcol_status add_file(pcol_builder *builder, const pcol_file *file,
                            const pcol_import_options *options, pcol_error *err)
{
    struct pci_budget *budget = &builder->budget;
    budget->used = 1;
    budget->trusted |= (options->flags & PCOL_IMPORT_TRUSTED) != 0;
    pci_budget_grant(budget, pcol_file_size(file));
    struct pci_budget *enclosing = pci_budget_enter(budget);
    pcol_status status = pci_merge_file(builder, file, options, 0, UINT64_MAX - 1, err);
    if (status == PCOL_OK)
        status = pci_builder_end_input(builder, pcol_file_intact(file, err));
    pci_budget_leave(enclosing);
    return status;
}

pcol_status pcol_builder_add_file(pcol_builder *builder, const pcol_file *file,
                                  const pcol_import_options *options, pcol_error *err)
{
    pcol_import_options known;
    struct pci_control scope;
    pcol_status status;
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE(file, err);
    PCI_TRY(copy_options(options, &known, err));
    PCI_TRY(pci_control_init(&scope, known.control, "read", err));
    PCI_CONTROLLED(&scope, status, add_file(builder, file, &known, err), err);
    return status;
}
