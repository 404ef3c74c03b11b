/*
 * write_generic.c - export of other sources as Rprof output
 *
 * One segment: frames, line references, samples in order, each repeated by its value. Losses are
 * reported once per kind. Names that would not be read back, since R has no escapes, are changed.
 */
#include "formats/rprof/write.h"

#include "formats/rprof/lexer.h"
#include "model/frame_names.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/strbuf.h"

#include <string.h>

#define MAX_REPEATS 100000

enum loss {
    LOSS_STACKLESS = 1 << 0,
    LOSS_NO_FILE = 1 << 1,
    LOSS_NO_LINE = 1 << 2,
    LOSS_NAME = 1 << 3,
    LOSS_COUNT = 1 << 4,
    LOSS_TYPES = 1 << 5,
    LOSS_INTERVAL = 1 << 6,
    LOSS_GROWTH = 1 << 7,
    LOSS_NEGATIVE = 1 << 8,
    LOSS_SOURCES = 1 << 9
};

static const struct pci_loss losses[] = {
    {"samples without a call stack or with an empty one", ""},
    {"lines whose file is not known", ""},
    {"files of functions without a line", ""},
    {"names that Rprof cannot delimit: quotes and line feeds in them are changed", ""},
    {"how often a sample counts, where that is not 1 to 100000", ""},
    {"sample types other than samples/count", ""},
    {"fractions of microseconds of the sampling interval", ""},
    {"how memory grew since samples that were left out: R adds it to the next one", ""},
    {"negative lines of the code", ""},
    {"sources without samples/count, which others have: they are left out", "source"},
};

struct generic_writer {
    const struct pci_export *export;
    const pcol_file *file;
    struct pci_out *out;
    uint32_t source;
    struct pci_rprof_samples *samples;
    struct pci_rprof_locations locations;
    struct pci_frame_namer names;
    struct pci_rprof_stack_text stacks;
    struct pci_hash files; /* string of a path -> row of `paths` */
    int64_t *paths;        /* strings */
    int64_t first_file;    /* numbers of earlier sources are up to this one */
    size_t path_capacity;
    struct pci_strbuf pending; /* #File lines of files met since the last sample */
    const struct pci_types *types;
    struct pci_selected_type chosen; /* the type whose samples are written */
    struct pci_rprof_flags flags;
    int has_header; /* it is written before the first sample */
    unsigned lost;
};

/* ---- names and files ---- */

static int is_own_line(const uint8_t *p, const uint8_t *end)
{
    struct pci_rprof_header header;
    struct pci_rprof_file file;
    return p < end && (*p == '"' || pci_rprof_ref(p, end) || pci_rprof_header(p, end, &header) ||
                       pci_rprof_file(p, end, &file));
}

/* 1 if [p, end), a quoted name with its blank, is read back as that name. */
static int is_delimited(const uint8_t *p, const uint8_t *end)
{
    struct pci_rprof_fault fault;
    const uint8_t *feed = memchr(p, '\n', (size_t)(end - p));
    /* A frame or a reference may follow: the name must also end before a quote. */
    if (pci_rprof_unit(p, end, PCI_RPROF_LOOSE, &fault) != end)
        return 0;
    for (; feed; feed = memchr(p, '\n', (size_t)(end - p))) {
        if (feed - p >= 2 && feed[-1] == ' ' && feed[-2] == '"')
            return 0; /* the name would end there */
        p = feed + 1;
        const uint8_t *next = memchr(p, '\n', (size_t)(end - p));
        if (is_own_line(p, next ? next : end))
            return 0;
    }
    return 1;
}

static pcol_status append_name(struct generic_writer *w, const pcol_str *name,
                               struct pci_strbuf *to, pcol_error *err)
{
    size_t start = to->size;
    w->samples->has_blanks |= name->size && memchr(name->data, ' ', name->size);
    PCI_TRY(pci_strbuf_append(to, "\"", 1, err));
    PCI_TRY(pci_strbuf_append(to, name->data, name->size, err));
    PCI_TRY(pci_strbuf_append(to, "\" ", 2, err));
    uint8_t *data = (uint8_t *)to->data;
    if (is_delimited(data + start, data + to->size))
        return PCOL_OK;
    w->lost |= LOSS_NAME;
    for (uint8_t *p = data + start + 1; p < data + to->size - 2; p++)
        if (*p == '"')
            *p = '\'';
        else if (*p == '\n')
            *p = ' ';
    return PCOL_OK;
}

/* Find or add the number of a file in the segment; a new one gets a #File line. */
static pcol_status file_number(struct generic_writer *w, const struct pci_rprof_frame *frame,
                               int64_t *number, pcol_error *err)
{
    uint64_t hash = pci_hash_pair((uint64_t)frame->path, 0);
    size_t at = pci_hash_start(&w->files, hash);
    uint8_t word[32] = "#File ";
    for (;;) {
        uint32_t id = pci_hash_next(&w->files, hash, &at);
        if (id == PCI_HASH_NONE)
            break;
        *number = w->first_file + (int64_t)id + 1;
        if (w->paths[id] == frame->path)
            return PCOL_OK;
    }
    size_t count = w->files.count;
    PCI_TRY(PCI_GROW(w->paths, w->path_capacity, count + 1, err));
    w->paths[count] = frame->path;
    PCI_TRY(pci_hash_add(&w->files, hash, (uint32_t)count, err));
    *number = w->first_file + (int64_t)count + 1;
    PCI_TRY(pci_rprof_note_file(w->samples, w->source, *number, frame->path, err));
    uint8_t *p = pci_out_digits(word + 6, *number);
    *p++ = ':';
    *p++ = ' ';
    PCI_TRY(pci_strbuf_append(&w->pending, word, (size_t)(p - word), err));
    size_t start = w->pending.size;
    PCI_TRY(pci_strbuf_append(&w->pending, frame->filename.data, frame->filename.size, err));
    for (size_t i = start; i < w->pending.size; i++)
        if (w->pending.data[i] == '\n') {
            w->pending.data[i] = ' ';
            w->lost |= LOSS_NAME;
        }
    return pci_strbuf_append(&w->pending, "\n", 1, err);
}

/* ---- frames ---- */

static pcol_status frame_text(struct generic_writer *w, uint64_t group, uint64_t location,
                              struct pci_strbuf *to, pcol_error *err)
{
    uint8_t ref[48], *p = ref;
    struct pci_rprof_frame frame;
    struct pci_name name;
    int64_t number = 0;
    PCI_TRY(pci_rprof_frame_at(&w->locations, location, &frame, err));
    if (frame.has_file && frame.filename.size && !(frame.has_line && frame.line > 0))
        w->lost |= LOSS_NO_LINE;
    if (frame.has_line && frame.line < 0)
        w->lost |= LOSS_NEGATIVE;
    if (frame.has_line && frame.line > 0) {
        if (frame.has_file && frame.filename.size) {
            PCI_TRY(file_number(w, &frame, &number, err));
            p = pci_out_digits(p, number);
            *p++ = '#';
            p = pci_out_digits(p, frame.line);
            *p++ = ' ';
            PCI_TRY(pci_strbuf_append(to, ref, (size_t)(p - ref), err));
        } else {
            w->lost |= LOSS_NO_FILE;
        }
    }
    PCI_TRY(pci_frame_namer_get(&w->names, location, (uint32_t)group, &name, err));
    if (name.is_place && p != ref) /* the reference is the whole unit */
        return PCOL_OK;
    return append_name(w, &name.name, to, err);
}

static pcol_status unit_text(void *context, uint64_t group, struct pci_strbuf *to, pcol_error *err)
{
    struct generic_writer *w = context;
    uint64_t first, end;
    size_t start = to->size;
    PCI_TRY(pci_rprof_lines_of(&w->locations, group, &first, &end, err));
    for (; first < end; first++) {
        PCI_TRY(frame_text(w, group, first, to, err));
        if (to->size - start > PCI_RPROF_LONGEST_TEXT)
            return pci_rprof_fail_long(err);
    }
    return PCOL_OK;
}

/* ---- header ---- */

/* *line: some location has a line and a file. */
static pcol_status has_lines(const struct generic_writer *w, int *line, pcol_error *err)
{
    *line = 0;
    for (uint64_t row = 0; w->locations.line && row < w->locations.location_count && !*line;
         row++) {
        struct pci_rprof_frame frame;
        PCI_TRY(pci_rprof_frame_at(&w->locations, row, &frame, err));
        *line = frame.has_line && frame.line > 0 && frame.has_file && frame.filename.size;
    }
    return PCOL_OK;
}

/* *us: the sampling interval of the source, or its period if that is a time. */
static pcol_status find_interval(struct generic_writer *w, uint32_t source, int64_t *us,
                                 pcol_error *err)
{
    const struct pci_column *interval_ns, *period, *unit;
    pcol_str text;
    int64_t ns;
    int valid;
    PCI_TRY(pci_find_verified_column(w->file, "sources", "interval_ns", PCI_TYPES_INT, &interval_ns,
                                     err));
    PCI_TRY(pci_find_verified_column(w->file, "sources", "period", PCI_TYPES_INT, &period, err));
    PCI_TRY(
        pci_find_verified_column(w->file, "sources", "period_unit", PCI_TYPES_TEXT, &unit, err));
    PCI_TRY(pci_get(w->file, interval_ns, source, &ns, &valid, err));
    if (!valid) {
        PCI_TRY(pci_get_str(w->file, unit, source, &text, &valid, err));
        if (valid && pci_str_is(text, "nanoseconds"))
            PCI_TRY(pci_get(w->file, period, source, &ns, &valid, err));
    }
    w->lost |= valid && (ns < 1000 || ns % 1000) ? LOSS_INTERVAL : 0u;
    *us = valid && ns >= 1000 ? ns / 1000 : PCI_RPROF_INTERVAL_US;
    return PCOL_OK;
}

/* ---- losses ---- */

/* Select the type whose samples are written: that of the options, else samples/count if a source
 * has it. */
static pcol_status select_wanted(const struct pci_export *export, struct pci_rprof_samples *samples,
                                 pcol_error *err)
{
    const char *name = export->options->sample_type;
    if (samples->is_selected)
        return PCOL_OK;
    samples->is_selected = 1;
    pcol_error failure;
    pcol_status status =
        pci_types_select(&samples->types, export->first_source, export->last_source,
                         name ? name : "samples/count", &samples->wanted, &failure);
    if (status == PCOL_E_NOT_FOUND && !name)
        return PCOL_OK;
    return pci_pass_error(err, &failure, status);
}

pcol_status pci_rprof_is_left_out(const struct pci_export *export,
                                  struct pci_rprof_samples *samples, uint32_t source, int *left_out,
                                  pcol_error *err)
{
    const struct pci_types *types = &samples->types;
    uint32_t *list, count;
    PCI_TRY(select_wanted(export, samples, err));
    *left_out = 0;
    if (!samples->wanted.count)
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(list, (size_t)types->count + 1, err));
    pcol_status status = pci_types_of_source(types, source, list, &count, err);
    *left_out = count > 0;
    for (uint32_t i = 0; status == PCOL_OK && i < count && *left_out; i++)
        *left_out = !pci_types_equal(types, list[i], samples->wanted.rows[0]);
    pci_free(list);
    return status;
}

/* Whether the source has a sample type other than samples/count. A source without types in
 * source_types has all. */
static pcol_status find_lost_types(struct generic_writer *w, uint32_t source, pcol_error *err)
{
    uint32_t *list, count;
    PCI_TRY(PCI_MALLOC(list, (size_t)w->types->count + 1, err));
    pcol_status status = pci_types_of_source(w->types, source, list, &count, err);
    for (uint32_t i = 0; status == PCOL_OK && i < (count ? count : w->types->count); i++) {
        uint32_t row = count ? list[i] : i;
        if (!pci_str_is(w->types->type[row], "samples") ||
            !pci_str_is(w->types->unit[row], "count") || w->types->ordinal[row])
            w->lost |= LOSS_TYPES;
    }
    pci_free(list);
    return status;
}

/* *has: an exported sample has a growth of memory that readers of Rprof do not derive. */
static pcol_status has_growth(const struct pci_export *export, int *has, pcol_error *err)
{
    const struct pci_column *growth, *source;
    uint64_t rows = pci_rows(export->file, "samples");
    int64_t values[PCI_BATCH], sources[PCI_BATCH] = {0};
    uint8_t valid[PCI_BATCH], has_source[PCI_BATCH];
    *has = 0;
    PCI_TRY(pci_find_verified_column(export->file, "samples", "memory_growth", PCI_TYPE(PCF_I64),
                                     &growth, err));
    PCI_TRY(
        pci_find_verified_column(export->file, "samples", "source", PCI_TYPES_ROW, &source, err));
    for (uint64_t row = 0; growth && !*has && row < rows; row += PCI_BATCH) {
        size_t n = rows - row < PCI_BATCH ? (size_t)(rows - row) : PCI_BATCH;
        PCI_TRY(pci_read(export->file, growth, row, n, values, valid, err));
        if (source)
            PCI_TRY(pci_read(export->file, source, row, n, sources, has_source, err));
        for (size_t i = 0; i < n; i++)
            *has |= valid[i] && (uint64_t)sources[i] >= export->first_source &&
                    (uint64_t)sources[i] <= export->last_source;
    }
    return PCOL_OK;
}

pcol_status pci_rprof_report_losses(const struct pci_export *export, unsigned lost, pcol_error *err)
{
    int grows;
    PCI_TRY(has_growth(export, &grows, err));
    pci_export_report(export, losses, sizeof losses / sizeof *losses,
                      lost | (grows ? LOSS_GROWTH : 0u));
    return PCOL_OK;
}

/* ---- samples ---- */

/* The column of type samples/count with doubles; NULL: none. */
static const struct pci_column *find_doubles(const struct pci_types *types)
{
    for (uint32_t k = 0; k < types->count; k++)
        if (types->columns[k] && types->columns[k]->desc->type == PCF_F64 && !types->ordinal[k] &&
            pci_str_is(types->type[k], "samples") && pci_str_is(types->unit[k], "count"))
            return types->columns[k];
    return NULL;
}

/* *times: number of lines for the sample, its value of type samples/count. */
static pcol_status count_repeats(struct generic_writer *w, size_t i, int64_t *times,
                                 pcol_error *err)
{
    const struct pci_rprof_cells *count = &w->samples->value[0];
    uint64_t row = w->samples->first + i;
    int valid = count->valid[i], fraction = 0;
    *times = count->value[i];
    if (!valid) {
        PCI_TRY(pci_get(w->file, w->samples->double_values, row, times, &valid, err));
        if (valid)
            PCI_TRY(pci_types_to_integer(*times, 1, &(struct pci_integer_form){"rprof", 1, 0}, row,
                                         times, &fraction, err));
    }
    if (!valid)
        *times = 1;
    if (fraction || *times < 1 || *times > MAX_REPEATS)
        w->lost |= LOSS_COUNT;
    if (*times > MAX_REPEATS)
        *times = 1;
    return PCOL_OK;
}

/* *other: the sample has no value of the chosen type: it belongs to another event, or a filter
 * removed its values. If no sample has a value of the type, those without any value are written. */
static pcol_status is_other_event(const struct generic_writer *w, uint64_t row, int *other,
                                  pcol_error *err)
{
    int64_t ignored;
    int valid = 0;
    *other = 0;
    for (uint32_t k = 0; k < w->chosen.count && !valid; k++) {
        const struct pci_column *column = w->types->columns[w->chosen.rows[k]];
        *other |= column != NULL;
        PCI_TRY(pci_get(w->file, column, row, &ignored, &valid, err));
    }
    if (valid)
        *other = 0;
    for (uint32_t k = 0; k < w->types->count && !valid && !*other; k++)
        PCI_TRY(pci_get(w->file, w->types->columns[k], row, &ignored, other, err));
    return PCOL_OK;
}

static pcol_status put_header(struct generic_writer *w, pcol_error *err)
{
    uint8_t header[96];
    if (w->has_header)
        return PCOL_OK;
    w->has_header = 1;
    pci_rprof_note_header(w->samples, w->source, &w->flags);
    size_t size = pci_rprof_header_text(header, &w->flags);
    header[size++] = '\n';
    return pci_out(w->out, header, size, err);
}

static pcol_status put_sample(struct generic_writer *w, size_t i, pcol_error *err)
{
    const struct pci_rprof_cells *stack = &w->samples->stack;
    const uint8_t *text;
    size_t size;
    int64_t times;
    if (!stack->valid[i] || stack->value[i] == 0) {
        w->lost |= LOSS_STACKLESS;
        return PCOL_OK;
    }
    PCI_TRY(pci_rprof_stack_text_text(&w->stacks, (uint64_t)stack->value[i], &text, &size, err));
    PCI_TRY(count_repeats(w, i, &times, err));
    if (times < 1)
        return PCOL_OK;
    PCI_TRY(put_header(w, err));
    PCI_TRY(pci_out(w->out, w->pending.data, w->pending.size, err));
    w->pending.size = 0;
    for (; times > 0; times--) {
        PCI_TRY(pci_out(w->out, text, size, err));
        PCI_TRY(pci_out(w->out, "\n", 1, err));
    }
    return PCOL_OK;
}

/* *line: a stack of this source has a line. Texts are generated until one is found, then freed. */
static pcol_status source_has_lines(struct generic_writer *w, uint32_t source, int *line,
                                    pcol_error *err)
{
    *line = 0;
    for (uint64_t row = w->samples->turns.next; !*line; row++) {
        const struct pci_rprof_cells *stack = &w->samples->stack;
        const uint8_t *text;
        size_t size;
        PCI_TRY(pci_rprof_samples_next(w->samples, source, &row, err));
        if (row >= w->samples->total)
            break;
        size_t i = (size_t)(row - w->samples->first);
        if (!stack->valid[i])
            continue;
        PCI_TRY(
            pci_rprof_stack_text_text(&w->stacks, (uint64_t)stack->value[i], &text, &size, err));
        *line = w->files.count > 0;
    }
    pci_rprof_stack_text_close(&w->stacks);
    pci_hash_clear(&w->files);
    w->pending.size = 0;
    return pci_rprof_stack_text_open(&w->stacks, w->file, w->locations.group_count, unit_text, w,
                                     err);
}

static pcol_status prepare(struct generic_writer *w, pcol_error *err)
{
    struct pci_rprof_samples *s = w->samples;
    if (!s->is_prepared) {
        PCI_TRY(pci_types_verify(w->types, err));
        PCI_TRY(has_lines(w, &s->has_lines, err));
        s->double_values = find_doubles(w->types);
        s->is_prepared = 1;
    }
    return PCOL_OK;
}

static pcol_status put_segment(struct generic_writer *w, uint32_t source, pcol_error *err)
{
    int left_out;
    PCI_TRY(pci_rprof_locations_open(&w->locations, w->file, err));
    PCI_TRY(pci_frame_namer_open(&w->names, w->file, err));
    w->names.libraries = 1;
    PCI_TRY(pci_rprof_stack_text_open(&w->stacks, w->file, w->locations.group_count, unit_text, w,
                                      err));
    PCI_TRY(prepare(w, err));
    PCI_TRY(find_lost_types(w, source, err));
    PCI_TRY(pci_rprof_is_left_out(w->export, w->samples, source, &left_out, err));
    if (left_out) {
        w->lost |= w->export->options->sample_type ? 0u : LOSS_SOURCES;
        return PCOL_OK;
    }
    w->chosen = w->samples->wanted;
    if (!w->chosen.count && !w->export->options->sample_type)
        PCI_TRY(pci_types_select(w->types, source, source, NULL, &w->chosen, err));
    w->flags.line = w->samples->has_lines;
    if (w->flags.line && pci_rows(w->file, "sources") > 1)
        PCI_TRY(source_has_lines(w, source, &w->flags.line, err));
    PCI_TRY(find_interval(w, source, &w->flags.interval_us, err));
    for (uint64_t row = w->samples->turns.next;; row++) {
        PCI_TRY(pci_rprof_samples_next(w->samples, source, &row, err));
        if (row >= w->samples->total) /* R counts headers: only a file without samples needs one */
            return source < w->export->last_source || w->samples->has_header ? PCOL_OK
                                                                             : put_header(w, err);
        int other;
        PCI_TRY(is_other_event(w, row, &other, err));
        if (other)
            continue;
        PCI_TRY(put_sample(w, (size_t)(row - w->samples->first), err));
    }
}

pcol_status pci_rprof_write_generic(const struct pci_export *export, struct pci_out *out,
                                    struct pci_rprof_samples *samples, uint32_t source,
                                    unsigned *lost, pcol_error *err)
{
    enum { MOST_FILES = 1 << 30 }; /* numbers of crafted files may be any */
    struct generic_writer w = {.export = export,
                               .source = source,
                               .first_file =
                                   samples->highest_file < MOST_FILES ? samples->highest_file : 0,
                               .file = export->file,
                               .out = out,
                               .samples = samples,
                               .types = &samples->types};
    pcol_status status = put_segment(&w, source, err);
    *lost |= w.lost;
    pci_rprof_stack_text_close(&w.stacks);
    pci_hash_clear(&w.files);
    pci_frame_namer_close(&w.names);
    if (w.chosen.rows != samples->wanted.rows)
        pci_free(w.chosen.rows);
    pci_free(w.paths);
    pci_free(w.pending.data);
    return status;
}
