/*
 * write_generic.c - writing a profile of another kind as Rprof output
 *
 * One segment: frames, line references, the order of samples; each sample as often as it counts.
 * What R's format has no place for is left out and said once for each kind. A name that R's format
 * could not delimit, because nothing in it is escaped, is changed until it can.
 */
#include "formats/rprof/write.h"

#include "formats/rprof/lexer.h"
#include "model/frame_names.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/strbuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_REPEATS 100000

enum loss {
    LOSS_STACKLESS = 1 << 0,
    LOSS_NO_FILE = 1 << 1,
    LOSS_NO_LINE = 1 << 2,
    LOSS_NAME = 1 << 3,
    LOSS_COUNT = 1 << 4,
    LOSS_TYPES = 1 << 5,
    LOSS_INTERVAL = 1 << 6
};

static const char *const losses[] = {
    "samples without a call stack or with an empty one",
    "lines whose file is not known",
    "files of functions without a line",
    "names that Rprof cannot delimit: quotes and line feeds in them are changed",
    "how often a sample counts, where that is not 1 to 100000",
    "sample types other than samples/count",
    "fractions of microseconds of the sampling interval",
};

struct foreign {
    const struct pci_export *export;
    const pcol_file *file;
    struct pci_out *out;
    struct pci_rprof_samples *samples;
    struct pci_rprof_locations locations;
    struct pci_frame_namer names;
    struct pci_rprof_stack_text stacks;
    struct pci_hash files; /* string of a path -> number of the file - 1 */
    int64_t *paths;        /* by number - 1 */
    size_t path_capacity;
    struct pci_rprof_bytes pending; /* #File lines of files met since the last sample */
    struct pci_types types;
    struct pci_selected_type chosen;  /* the type whose samples are written */
    const struct pci_column *doubles; /* values of samples/count that are no integers */
    unsigned lost;
};

/* ---- names and files ---- */

static int line_stands_alone(const uint8_t *p, const uint8_t *end)
{
    struct pci_rprof_header header;
    struct pci_rprof_file file;
    return p < end && (*p == '"' || pci_rprof_ref(p, end) || pci_rprof_header(p, end, &header) ||
                       pci_rprof_file(p, end, &file));
}

/* Would [p, end), a quoted name with its blank, be read back as that name? */
static int delimited(const uint8_t *p, const uint8_t *end)
{
    struct pci_rprof_fault fault;
    const uint8_t *feed = memchr(p, '\n', (size_t)(end - p));
    /* A frame or a reference may follow; a quote stands for both, as far as the name goes. */
    if (pci_rprof_unit(p, end, PCI_RPROF_LOOSE, &fault) != end)
        return 0;
    for (; feed; feed = memchr(p, '\n', (size_t)(end - p))) {
        if (feed - p >= 2 && feed[-1] == ' ' && feed[-2] == '"')
            return 0; /* it would end there */
        p = feed + 1;
        const uint8_t *next = memchr(p, '\n', (size_t)(end - p));
        if (line_stands_alone(p, next ? next : end))
            return 0;
    }
    return 1;
}

static pcol_status append_name(struct foreign *f, const pcol_str *name, struct pci_rprof_bytes *to,
                               pcol_error *err)
{
    size_t start = to->size;
    PCI_TRY(pci_rprof_append(to, "\"", 1, err));
    PCI_TRY(pci_rprof_append(to, name->data, name->size, err));
    PCI_TRY(pci_rprof_append(to, "\" ", 2, err));
    if (delimited(to->data + start, to->data + to->size))
        return PCOL_OK;
    f->lost |= LOSS_NAME;
    for (uint8_t *p = to->data + start + 1; p < to->data + to->size - 2; p++)
        if (*p == '"')
            *p = '\'';
        else if (*p == '\n')
            *p = ' ';
    return PCOL_OK;
}

/* Number of a file in the segment; a new one gets its #File line. */
static pcol_status file_number(struct foreign *f, const struct pci_rprof_frame *frame,
                               int64_t *number, pcol_error *err)
{
    uint64_t hash = pci_hash_pair((uint64_t)frame->path, 0);
    size_t at = pci_hash_start(&f->files, hash);
    uint8_t word[32] = "#File ";
    for (;;) {
        uint32_t id = pci_hash_next(&f->files, hash, &at);
        if (id == PCI_HASH_NONE)
            break;
        *number = (int64_t)id + 1;
        if (f->paths[id] == frame->path)
            return PCOL_OK;
    }
    size_t count = f->files.count;
    void *paths = f->paths;
    if (pci_grow(&paths, &f->path_capacity, count + 1, sizeof *f->paths))
        return pci_fail_memory(err);
    f->paths = paths;
    f->paths[count] = frame->path;
    PCI_TRY(pci_hash_add(&f->files, hash, (uint32_t)count, err));
    *number = (int64_t)count + 1;
    uint8_t *p = pci_out_digits(word + 6, *number);
    *p++ = ':';
    *p++ = ' ';
    PCI_TRY(pci_rprof_append(&f->pending, word, (size_t)(p - word), err));
    size_t start = f->pending.size;
    PCI_TRY(pci_rprof_append(&f->pending, frame->filename.data, frame->filename.size, err));
    for (size_t i = start; i < f->pending.size; i++)
        if (f->pending.data[i] == '\n') {
            f->pending.data[i] = ' ';
            f->lost |= LOSS_NAME;
        }
    return pci_rprof_append(&f->pending, "\n", 1, err);
}

/* ---- frames ---- */

static pcol_status frame_text(struct foreign *f, uint64_t group, uint64_t location,
                              struct pci_rprof_bytes *to, pcol_error *err)
{
    uint8_t ref[48], *p = ref;
    struct pci_rprof_frame frame;
    struct pci_name name;
    int64_t number = 0;
    PCI_TRY(pci_rprof_frame_at(&f->locations, location, &frame, err));
    if (frame.has_file && frame.filename.size && !(frame.has_line && frame.line > 0))
        f->lost |= LOSS_NO_LINE;
    if (frame.has_line && frame.line > 0) {
        if (frame.has_file && frame.filename.size) {
            PCI_TRY(file_number(f, &frame, &number, err));
            p = pci_out_digits(p, number);
            *p++ = '#';
            p = pci_out_digits(p, frame.line);
            *p++ = ' ';
            PCI_TRY(pci_rprof_append(to, ref, (size_t)(p - ref), err));
        } else {
            f->lost |= LOSS_NO_FILE;
        }
    }
    PCI_TRY(pci_frame_namer_get(&f->names, location, (uint32_t)group, &name, err));
    if (name.is_place && p != ref) /* the reference is all there is */
        return PCOL_OK;
    return append_name(f, &name.name, to, err);
}

static pcol_status unit_text(void *context, uint64_t group, struct pci_rprof_bytes *to,
                             pcol_error *err)
{
    struct foreign *f = context;
    uint64_t first, end;
    PCI_TRY(pci_rprof_lines_of(&f->locations, group, &first, &end, err));
    for (; first < end; first++)
        PCI_TRY(frame_text(f, group, first, to, err));
    return PCOL_OK;
}

/* ---- header ---- */

/* Is a line known anywhere, together with its file? */
static pcol_status knows_lines(const struct foreign *f, int *line, pcol_error *err)
{
    *line = 0;
    for (uint64_t row = 0; f->locations.line && row < f->locations.location_count && !*line;
         row++) {
        struct pci_rprof_frame frame;
        PCI_TRY(pci_rprof_frame_at(&f->locations, row, &frame, err));
        *line = frame.has_line && frame.line > 0 && frame.has_file && frame.filename.size;
    }
    return PCOL_OK;
}

/* The time between samples: what the source says, or the period if that is a time. */
static pcol_status interval(struct foreign *f, uint32_t source, int64_t *us, pcol_error *err)
{
    const struct pci_column *interval_ns, *period, *unit;
    pcol_str text;
    int64_t ns;
    int valid;
    PCI_TRY(pci_rprof_column(f->file, "sources", "interval_ns", 1u << PCF_I64, &interval_ns, err));
    PCI_TRY(pci_rprof_column(f->file, "sources", "period", 1u << PCF_I64, &period, err));
    PCI_TRY(pci_rprof_column(f->file, "sources", "period_unit", 1u << PCF_STRING, &unit, err));
    PCI_TRY(pci_rprof_cell(f->file, interval_ns, source, &ns, &valid, err));
    if (!valid) {
        PCI_TRY(pci_rprof_cell_str(f->file, unit, source, &text, &valid, err));
        if (valid && pci_str_is(text, "nanoseconds"))
            PCI_TRY(pci_rprof_cell(f->file, period, source, &ns, &valid, err));
    }
    f->lost |= valid && (ns < 1000 || ns % 1000) ? LOSS_INTERVAL : 0u;
    *us = valid && ns >= 1000 ? ns / 1000 : PCI_RPROF_INTERVAL_US;
    return PCOL_OK;
}

/* ---- what else there is to lose ---- */

/* Has the source a type that is not samples/count? */
static pcol_status has_other_types(const struct foreign *f, uint32_t source, int *other,
                                   pcol_error *err)
{
    const struct pci_column *type, *owner, *types;
    uint64_t rows, own = 0;
    PCI_TRY(pci_check_row_count(f->file, "sample_types", err));
    PCI_TRY(pci_check_row_count(f->file, "source_types", err));
    PCI_TRY(pci_rprof_column(f->file, "sample_types", "type", 1u << PCF_STRING, &type, err));
    PCI_TRY(pci_rprof_column(f->file, "source_types", "source", 1u << PCF_U32, &owner, err));
    PCI_TRY(pci_rprof_column(f->file, "source_types", "sample_type", 1u << PCF_U32, &types, err));
    *other = 0;
    for (int by_source = owner && types; by_source >= 0 && !own; by_source--) {
        if (by_source)
            rows = pci_rprof_rows(f->file, "source_types");
        else
            rows = pci_rprof_rows(f->file, "sample_types");
        for (uint64_t row = 0; row < rows; row++) {
            int64_t at = (int64_t)row, source_row = (int64_t)source;
            pcol_str text;
            int valid;
            if (by_source) {
                PCI_TRY(pci_rprof_cell(f->file, owner, row, &source_row, &valid, err));
                PCI_TRY(pci_rprof_cell(f->file, types, row, &at, &valid, err));
            }
            if (source_row != (int64_t)source)
                continue;
            own++;
            PCI_TRY(pci_rprof_cell_str(f->file, type, (uint64_t)at, &text, &valid, err));
            *other = *other || !pci_str_is(text, "samples");
        }
    }
    return PCOL_OK;
}

static pcol_status note_source(struct foreign *f, uint32_t source, pcol_error *err)
{
    int other;
    PCI_TRY(has_other_types(f, source, &other, err));
    f->lost |= other ? LOSS_TYPES : 0u;
    return PCOL_OK;
}

void pci_rprof_report_losses(const struct pci_export *export, unsigned lost)
{
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (lost & 1u << i)
            pci_export_loss(export, "%s %s", export->capabilities->loss_prefix, losses[i]);
}

/* ---- samples ---- */

/* The doubles of type samples/count, NULL if there are none. */
static const struct pci_column *find_doubles(const struct pci_types *types)
{
    for (uint32_t k = 0; k < types->count; k++)
        if (types->columns[k] && types->columns[k]->desc->type == PCF_F64 && !types->ordinal[k] &&
            pci_str_is(types->type[k], "samples") && pci_str_is(types->unit[k], "count"))
            return types->columns[k];
    return NULL;
}

/* How often the sample is written: its value of type samples/count. */
static pcol_status repeats(struct foreign *f, size_t i, int64_t *times, pcol_error *err)
{
    const struct pci_rprof_cells *count = &f->samples->value[0];
    uint64_t row = f->samples->first + i;
    int valid = count->valid[i], fraction = 0;
    *times = count->value[i];
    if (!valid) {
        PCI_TRY(pci_rprof_cell(f->file, f->doubles, row, times, &valid, err));
        if (valid)
            PCI_TRY(pci_types_round_double(*times, row, "rprof", times, &fraction, err));
    }
    if (!valid)
        *times = 1;
    if (fraction || *times < 1 || *times > MOST_REPEATS)
        f->lost |= LOSS_COUNT;
    if (*times > MOST_REPEATS)
        *times = 1;
    return PCOL_OK;
}

/* Has the sample a value, but none of the chosen type? It is of another event then. */
static pcol_status is_other_event(const struct foreign *f, uint64_t row, int *other,
                                  pcol_error *err)
{
    int64_t ignored;
    int valid = 0;
    *other = 0;
    for (uint32_t k = 0; k < f->chosen.count && !valid; k++)
        PCI_TRY(pci_rprof_cell(f->file, f->types.columns[f->chosen.rows[k]], row, &ignored, &valid,
                               err));
    if (valid)
        return PCOL_OK;
    for (uint32_t k = 0; k < f->types.count && !*other; k++)
        PCI_TRY(pci_rprof_cell(f->file, f->types.columns[k], row, &ignored, other, err));
    return PCOL_OK;
}

static pcol_status put_sample(struct foreign *f, size_t i, pcol_error *err)
{
    const struct pci_rprof_cells *stack = &f->samples->stack;
    const uint8_t *text;
    size_t size;
    int64_t times;
    if (!stack->valid[i] || stack->value[i] == 0) {
        f->lost |= LOSS_STACKLESS;
        return PCOL_OK;
    }
    PCI_TRY(pci_rprof_stack_text_text(&f->stacks, (uint64_t)stack->value[i], &text, &size, err));
    PCI_TRY(pci_out(f->out, f->pending.data, f->pending.size, err));
    f->pending.size = 0;
    PCI_TRY(repeats(f, i, &times, err));
    for (; times > 0; times--) {
        PCI_TRY(pci_out(f->out, text, size, err));
        PCI_TRY(pci_out(f->out, "\n", 1, err));
    }
    return PCOL_OK;
}

/* Does a stack of this source have a line? The text is made until one turns up, and forgotten. */
static pcol_status uses_lines(struct foreign *f, uint32_t source, int *line, pcol_error *err)
{
    *line = 0;
    for (uint64_t row = f->samples->turns.next; !*line; row++) {
        const struct pci_rprof_cells *stack = &f->samples->stack;
        const uint8_t *text;
        size_t size;
        PCI_TRY(pci_rprof_samples_next(f->samples, source, &row, err));
        if (row >= f->samples->total)
            break;
        size_t i = (size_t)(row - f->samples->first);
        if (!stack->valid[i])
            continue;
        PCI_TRY(
            pci_rprof_stack_text_text(&f->stacks, (uint64_t)stack->value[i], &text, &size, err));
        *line = f->files.count > 0;
    }
    pci_rprof_stack_text_close(&f->stacks);
    pci_hash_clear(&f->files);
    f->pending.size = 0;
    return pci_rprof_stack_text_open(&f->stacks, f->file, f->locations.group_count, unit_text, f,
                                     err);
}

static pcol_status put_segment(struct foreign *f, uint32_t source, pcol_error *err)
{
    struct pci_rprof_flags flags = {0};
    const char *wanted = f->export->options->sample_type;
    uint8_t header[96];
    PCI_TRY(pci_rprof_locations_open(&f->locations, f->file, err));
    PCI_TRY(pci_frame_namer_open(&f->names, f->file, err));
    f->names.libraries = 1;
    PCI_TRY(pci_rprof_stack_text_open(&f->stacks, f->file, f->locations.group_count, unit_text, f,
                                      err));
    PCI_TRY(note_source(f, source, err));
    PCI_TRY(pci_types_open(f->file, &f->types, err));
    PCI_TRY(pci_types_verify(&f->types, err));
    f->doubles = find_doubles(&f->types);
    PCI_TRY(pci_types_select(&f->types, wanted ? f->export->first_source : source,
                             wanted ? f->export->last_source : source, wanted, &f->chosen, err));
    PCI_TRY(knows_lines(f, &flags.line, err));
    if (flags.line && pci_rprof_rows(f->file, "sources") > 1)
        PCI_TRY(uses_lines(f, source, &flags.line, err));
    PCI_TRY(interval(f, source, &flags.interval_us, err));
    size_t size = pci_rprof_header_text(header, &flags);
    header[size++] = '\n';
    PCI_TRY(pci_out(f->out, header, size, err));
    for (uint64_t row = f->samples->turns.next;; row++) {
        PCI_TRY(pci_rprof_samples_next(f->samples, source, &row, err));
        if (row >= f->samples->total)
            return PCOL_OK;
        int other;
        PCI_TRY(is_other_event(f, row, &other, err));
        if (other)
            continue;
        PCI_TRY(put_sample(f, (size_t)(row - f->samples->first), err));
    }
}

pcol_status pci_rprof_write_generic(const struct pci_export *export, struct pci_out *out,
                                    struct pci_rprof_samples *samples, uint32_t source,
                                    unsigned *lost, pcol_error *err)
{
    struct foreign f = {.export = export, .file = export->file, .out = out, .samples = samples};
    pcol_status status = put_segment(&f, source, err);
    *lost |= f.lost;
    pci_rprof_stack_text_close(&f.stacks);
    pci_hash_clear(&f.files);
    pci_frame_namer_close(&f.names);
    pci_types_close(&f.types);
    pci_free(f.chosen.rows);
    pci_free(f.paths);
    pci_free(f.pending.data);
    return status;
}
