/*
 * write.c - export of a profile as the text of `perf script`
 *
 * The layout is that of perf: with call chains a block of lines for each sample, else one line. A
 * source that is perf script text gets its fields back. Values of other sources become periods of
 * an event named like the sample type. Tests: tests/unit/test_perf.c.
 */
#include "formats/perf/write.h"
#include "formats/perf/perf.h"
#include "query/labels.h"
#include "util/alloc.h"

static const struct pci_loss losses[] = {
    {"line ends in names: they become blanks", ""},
    {"more than one sample type", "sample_type"},
    {"labels of samples but cpu (from 0 on), misc, trace and after_frame", ""},
    {"units of values other than count, and nanoseconds of clocks", ""},
    {"fractions of values", ""},
    {"negative values: their samples are left out", ""},
    {"times before 0", ""},
    {"the difference between samples without a call stack and with an empty one", ""},
    {"files of functions without a line", ""},
    {"lines whose file is not known", ""},
    {"names that look like other fields: they are read back as others", ""},
    {"values other than 1 of events without a period", ""},
    {"samples without a time, a value and a call stack: they are left out", ""},
    {"labels of frames but offsets", ""},
    {"addresses in call chains: they become offsets in the file of the binary", ""},
    {"frames without an address after others with one: they get the address 0", ""},
};

const struct pci_capabilities pci_perf_capabilities = {
    .loss_prefix = "perf script text cannot hold",
    .generic = PCI_KIND_BIT(EXACT) | PCI_KIND_BIT(FILES) | PCI_KIND_BIT(LINES) |
               PCI_KIND_BIT(INLINED) | PCI_KIND_BIT(ADDRESSES) | PCI_KIND_BIT(LIBRARIES) |
               PCI_KIND_BIT(THREADS) | PCI_KIND_BIT(TIMES) | PCI_KIND_BIT(LABELS)};

/* Report that the first event, which the reader takes for the default type, is another one. */
static void check_default(struct pci_perf_writer *w, uint32_t type)
{
    const struct pci_types *t = &w->types;
    if (w->has_event || !w->is_perf || !w->chosen.count)
        return;
    w->has_event = 1;
    if (!pci_str_equal(t->type[type], w->chosen.type) ||
        !pci_str_equal(t->unit[type], w->chosen.unit))
        pci_export_report_kind(w->export, PCI_KIND_DEFAULT_TYPE);
}

/* The line of fields after the frames; one that would be read as a frame is left out. */
static pcol_status put_fields_line(struct pci_perf_writer *w, pcol_str fields, pcol_error *err)
{
    PCI_TRY(pci_perf_put_fields(w, fields, err));
    enum pci_perf_fields kind = pci_perf_fields_line((const uint8_t *)w->line.data, w->line.size);
    if (kind == PCI_PERF_NAMED_FIELDS ||
        (kind == PCI_PERF_NUMBERS && (w->has_tabs || (w->path.depth && w->frame.in_symbol))))
        return pci_perf_end_line(w, err);
    w->lost |= LOSS_LABELS;
    w->line.size = 0;
    return PCOL_OK;
}

static pcol_status put_sample(struct pci_perf_writer *w, uint64_t row, pcol_error *err)
{
    struct pci_perf_event event;
    int64_t stack;
    int valid;
    PCI_TRY(pci_labels_row(&w->labels, row, err));
    PCI_TRY(pci_perf_find_event(w, row, &event, err));
    /* A sample of other types, or one whose values a filter removed. */
    if ((w->is_perf ? w->list_count : w->chosen.count) && event.type == PCOL_NONE)
        return PCOL_OK;
    if (event.type != PCOL_NONE && event.period < 0) /* periods are unsigned */
        return PCOL_OK;
    if (event.type != PCOL_NONE)
        check_default(w, event.type);
    const struct pci_label_cell *after = pci_perf_after_frame(w);
    PCI_TRY(pci_perf_put_header(w, row, &event, err));
    PCI_TRY(pci_get(w->file, w->stack, row, &stack, &valid, err));
    w->lost |= valid ? 0u : LOSS_EMPTY; /* a header without frames is an empty stack */
    PCI_TRY(pci_stack_path_to(&w->path, valid ? (uint64_t)stack : 0, err));
    if (!w->path.depth && !pci_perf_is_header(w)) {
        w->lost |= LOSS_BARE;
        w->line.size = 0;
        return PCOL_OK;
    }
    if (w->chains || !w->path.depth)
        PCI_TRY(pci_perf_end_header(w, !w->path.depth, err));
    for (size_t i = w->path.depth; i; i--)
        PCI_TRY(pci_perf_put_group(w, &w->path.steps[i - 1], i == w->path.depth, err));
    if (after && !w->path.depth && !w->chains)
        w->lost |= LOSS_LABELS;
    if (after && w->chains)
        PCI_TRY(put_fields_line(w, after->as.text, err));
    return w->chains ? pci_perf_end_line(w, err) : PCOL_OK;
}

/* ---- sources ---- */

/* *needed: the stack of a sample requires call chains. A frame in the header line needs an address
 * and an object or symbol. */
static pcol_status needs_chains(struct pci_perf_writer *w, uint64_t stack, int *needed,
                                pcol_error *err)
{
    struct pci_name name;
    enum pci_perf_addresses addresses;
    pcol_str object;
    int64_t address;
    int has_address, valid;
    PCI_TRY(pci_stack_path_to(&w->path, stack, err));
    const struct pci_stack_step *step = w->path.steps;
    *needed = w->path.depth > 1 || (w->path.depth && step->count > 1);
    if (*needed || !w->path.depth)
        return PCOL_OK;
    PCI_TRY(pci_get(w->file, w->address, step->group, &address, &has_address, err));
    PCI_TRY(pci_perf_find_addresses(w, step->group, &addresses, err));
    PCI_TRY(pci_labels_row(&w->group_labels, step->group, err));
    *needed = !has_address || addresses == PCI_PERF_OFFSETS ||
              (pci_perf_group_label(w, "no_object", PCI_LABEL_BOOL) &&
               pci_perf_group_label(w, "no_symbol", PCI_LABEL_BOOL)) ||
              pci_perf_group_label(w, "inlined_offsets", PCI_LABEL_STRING);
    if (*needed)
        return PCOL_OK;
    PCI_TRY(pci_frame_namer_get(&w->names, step->first, step->group, &name, err));
    *needed = pci_perf_has_colon(name.name);
    PCI_TRY(pci_frame_namer_mapping(&w->names, step->group, &object, &valid, err));
    *needed |= valid && pci_perf_has_colon(object);
    return PCOL_OK;
}

/* Find the next sample of the source from *row on; *row: the number of samples if there is none. */
static pcol_status find_next_sample(struct pci_perf_writer *w, uint64_t *row, pcol_error *err)
{
    uint64_t rows = pci_rows(w->file, "samples");
    int64_t source;
    int valid;
    if (pci_samples_by_source_find(&w->turns, w->source, row))
        return PCOL_OK;
    for (; *row < rows; ++*row) {
        PCI_TRY(pci_get(w->file, w->types.source, *row, &source, &valid, err));
        if ((uint64_t)source == w->source)
            return PCOL_OK;
        if (w->turns.in_order && (uint64_t)source > w->source)
            break;
        PCI_TRY(pci_samples_by_source_skip(&w->turns, *row, err));
    }
    *row = rows;
    return PCOL_OK;
}

/* Choose the layout, as perf does before it prints: width of events, digits of times, chains. */
static pcol_status scan_samples(struct pci_perf_writer *w, pcol_error *err)
{
    uint64_t rows = pci_rows(w->file, "samples");
    w->chains = !w->is_perf || w->has_call_chains;
    w->nanoseconds = 0;
    w->event_width = 0;
    for (uint64_t row = w->turns.next;; row++) {
        struct pci_perf_event event;
        int64_t time, stack;
        int valid;
        PCI_TRY(find_next_sample(w, &row, err));
        if (row >= rows)
            break;
        PCI_TRY(pci_labels_row(&w->labels, row, err));
        PCI_TRY(pci_get(w->file, w->time, row, &time, &valid, err));
        w->nanoseconds |= valid && time % 1000 != 0;
        PCI_TRY(pci_perf_find_event(w, row, &event, err));
        if (event.has_name && w->types.type[event.type].size > w->event_width)
            w->event_width = w->types.type[event.type].size;
        w->chains |=
            !valid && !event.has_name; /* a header needs a time, an event, or frames after it */
        PCI_TRY(pci_get(w->file, w->stack, row, &stack, &valid, err));
        if (valid && !w->chains)
            PCI_TRY(needs_chains(w, (uint64_t)stack, &w->chains, err));
    }
    return PCOL_OK;
}

/* 1 if the reader derives the unit from the event's name. */
static int has_read_unit(const struct pci_perf_writer *w)
{
    return pci_str_is(w->unit, pci_perf_is_clock(w->chosen.type) ? "nanoseconds" : "count");
}

/* 1 if the source has a type that is not written. */
static int has_other_type(const struct pci_perf_writer *w)
{
    for (uint32_t i = 0; i < w->list_count; i++) {
        int is_chosen = 0;
        for (uint32_t k = 0; k < w->chosen.count; k++)
            is_chosen |= w->chosen.rows[k] == w->list[i];
        if (!is_chosen)
            return 1;
    }
    return 0;
}

static pcol_status write_source(struct pci_perf_writer *w, pcol_error *err)
{
    const struct pci_column *type, *text, *call_chains;
    uint64_t rows = pci_rows(w->file, "samples");
    int64_t has_call_chains;
    pcol_str value;
    int valid;
    PCI_TRY(pci_require_column(w->file, "sources", "type", PCI_TYPES_TEXT, &type, err));
    PCI_TRY(pci_get_str(w->file, type, w->source, &value, &valid, err));
    w->is_perf = pci_str_is(value, "perf");
    PCI_TRY(pci_find_verified_column(w->file, "sources", "call_chains", PCI_TYPE(PCF_BOOL),
                                     &call_chains, err));
    PCI_TRY(pci_get(w->file, call_chains, w->source, &has_call_chains, &valid, err));
    w->has_call_chains = has_call_chains != 0;
    w->unit = w->chosen.unit;
    double scale = pci_label_integer_scale(!w->is_perf && w->chosen.is_double, &w->unit);
    w->form = (struct pci_integer_form){"perf script text", scale, 0};
    PCI_TRY(pci_types_of_source(&w->types, w->source, w->list, &w->list_count, err));
    if (!w->is_perf && has_other_type(w))
        w->lost |= LOSS_TYPES;
    if (!w->is_perf && w->chosen.count && !has_read_unit(w))
        w->lost |= LOSS_UNIT;
    PCI_TRY(pci_find_verified_column(w->file, "sources", "text", PCI_TYPES_TEXT, &text, err));
    if (w->is_perf && text) {
        PCI_TRY(pci_get_str(w->file, text, w->source, &value, &valid, err));
        w->bytes += value.size + 2;
        PCI_TRY(pci_out(w->out, value.data, value.size, err));
        PCI_TRY(pci_out_line_end(w->out, err));
    }
    PCI_TRY(scan_samples(w, err));
    for (uint64_t row = w->turns.next;; row++) {
        PCI_TRY(find_next_sample(w, &row, err));
        if (row >= rows)
            return PCOL_OK;
        PCI_TRY(put_sample(w, row, err));
        w->turns.next = w->turns.in_order ? row + 1 : 0;
    }
}

static pcol_status prepare(struct pci_perf_writer *w, pcol_error *err)
{
    const pcol_file *file = w->file;
    const struct pci_export *export = w->export;
    PCI_TRY(pci_types_open(file, &w->types, err));
    PCI_TRY(pci_types_verify(&w->types, err));
    PCI_TRY(pci_samples_by_source_open(file, w->types.source, &w->turns, err));
    PCI_TRY(pci_types_select(&w->types, export->first_source, export->last_source,
                             export->options->sample_type, &w->chosen, err));
    PCI_TRY(pci_frame_namer_open(&w->names, file, err));
    PCI_TRY(pci_stack_path_open(&w->path, file, err));
    w->path.written.most = PCI_PRINTED_FRAMES;
    PCI_TRY(pci_labels_open(&w->labels, file, "samples", err));
    PCI_TRY(pci_labels_open(&w->group_labels, file, "location_groups", err));
    PCI_TRY(pci_find_verified_column(file, "samples", "stack", PCI_TYPES_ROW, &w->stack, err));
    PCI_TRY(pci_find_verified_column(file, "samples", "thread", PCI_TYPES_ROW, &w->thread, err));
    PCI_TRY(pci_find_verified_column(file, "samples", "time", PCI_TYPES_INT, &w->time, err));
    PCI_TRY(pci_find_verified_column(file, "location_groups", "address", PCI_TYPES_INT, &w->address,
                                     err));
    PCI_TRY(pci_find_verified_column(file, "location_groups", "mapping", PCI_TYPES_ROW, &w->mapping,
                                     err));
    PCI_TRY(pci_find_verified_column(file, "mappings", "limit", PCI_TYPES_INT, &w->limit, err));
    PCI_TRY(
        pci_find_verified_column(file, "threads", "name", PCI_TYPES_TEXT, &w->thread_name, err));
    PCI_TRY(pci_find_verified_column(file, "threads", "tid", PCI_TYPES_TEXT, &w->thread_tid, err));
    PCI_TRY(pci_find_verified_column(file, "threads", "pid", PCI_TYPES_TEXT, &w->thread_pid, err));
    w->list = pci_calloc((size_t)w->types.count + 1, sizeof *w->list);
    w->checked = pci_calloc((size_t)pci_rows(file, "locations") + 1, 1);
    w->written = pci_calloc((size_t)pci_rows(file, "location_groups") + 1, sizeof *w->written);
    return w->list && w->checked && w->written ? PCOL_OK : pci_fail_memory(err);
}

static pcol_status write_sources(struct pci_perf_writer *w, pcol_error *err)
{
    const struct pci_export *export = w->export;
    PCI_TRY(prepare(w, err));
    for (uint32_t source = export->first_source;
         export->first_source <= export->last_source && source <= export->last_source; source++) {
        w->source = source;
        PCI_TRY(write_source(w, err));
        if (source == UINT32_MAX)
            break;
    }
    PCI_TRY(pci_out_flush(w->out, err));
    pci_export_report(export, losses, sizeof losses / sizeof *losses, w->lost);
    return pci_export_losses(export, "perf", err);
}

pcol_status pci_perf_write(const struct pci_export *export, pcol_error *err)
{
    struct pci_perf_writer w = {.export = export, .file = export->file};
    PCI_TRY(PCI_MALLOC(w.out, 1, err));
    pci_out_open(w.out, export->sink);
    pcol_status status = write_sources(&w, err);
    pci_samples_by_source_close(&w.turns);
    pci_types_close(&w.types);
    pci_frame_namer_close(&w.names);
    pci_stack_path_close(&w.path);
    pci_labels_close(&w.labels);
    pci_labels_close(&w.group_labels);
    pci_free(w.chosen.rows);
    pci_free(w.list);
    pci_free(w.checked);
    pci_free(w.written);
    pci_strbuf_clear(&w.texts);
    pci_strbuf_clear(&w.line);
    pci_free(w.out);
    return status;
}
