/*
 * added_frames.c - stacks of samples with frames made of their labels, threads, ...
 *
 * As pprof's -tagroot and -tagleaf, a frame is a function named by the values, joined by commas,
 * whose file is the key; without a value "<unknown>", so that each sample has each frame.
 * Cells are read in batches of ascending rows. Tests: suite added_frames, tests/cli/roots.test.
 */
#include "merge/added_frames.h"

#include "model/frame_names.h"
#include "query/labels.h"
#include "util/alloc.h"

#include <stdio.h>
#include <string.h>

/* A batch of the cells of a column of samples. */
struct batch {
    const struct pci_column *column; /* NULL: all null */
    uint64_t first;
    size_t count;
    int64_t cells[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
};

/* Reader of the values that name one added frame. */
struct reader {
    const struct pci_added_frame *frame;
    const struct pci_column *name, *other; /* texts of threads or sources; other: if name is null */
    struct batch *batches;                 /* of a label: its columns; else its only column */
    struct pci_label_columns columns;      /* of a label */
    uint32_t file;                         /* the builder's string of the key */
};

struct pci_frame_adder {
    struct pci_merge *merge;
    const struct pci_added_frames *added;
    struct reader *readers;
    size_t count; /* of readers */
    struct pci_frame_namer names;
    /* The name of the frame is a list of values. */
    size_t value_count;
    pcol_str value; /* the only one, of a string of the file; else empty */
    struct pci_strbuf text;
    uint64_t long_texts; /* in `text` */
};

/* ---- names of frames, as in options */

static pcol_status parse(const char *text, struct pci_added_frame *frame, pcol_error *err)
{
    static const char *const words[] = {[PCI_ADDED_THREAD] = "thread",
                                        [PCI_ADDED_PROCESS] = "process",
                                        [PCI_ADDED_SOURCE] = "source",
                                        [PCI_ADDED_MAPPING] = "mapping"};
    if (text && !strncmp(text, "label:", 6)) {
        *frame = (struct pci_added_frame){PCI_ADDED_LABEL, {text + 6, strlen(text + 6)}};
        return PCOL_OK;
    }
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        if (!strcmp(text, words[i])) {
            *frame = (struct pci_added_frame){(enum pci_added_kind)i, {words[i], strlen(words[i])}};
            return PCOL_OK;
        }
    return pci_fail(err, PCOL_E_ARGUMENT,
                    "frames cannot be made of '%.60s': use thread, process, source, mapping or "
                    "label:KEY",
                    text ? text : "");
}

pcol_status pci_added_frames_parse(struct pci_added_frames *added, const char *const *roots,
                                   size_t root_count, const char *const *leaves, size_t leaf_count,
                                   pcol_error *err)
{
    if ((root_count && !roots) || (leaf_count && !leaves))
        return pci_fail(err, PCOL_E_ARGUMENT, "a list of frames is NULL");
    if (root_count > PCI_MERGE_BATCH || leaf_count > PCI_MERGE_BATCH)
        return pci_fail(err, PCOL_E_LIMIT, "more than %u frames to add", PCI_MERGE_BATCH);
    PCI_TRY(PCI_CALLOC(added->frames, root_count + leaf_count + 1, err));
    added->root_count = root_count;
    added->leaf_count = leaf_count;
    for (size_t i = 0; i < root_count + leaf_count; i++)
        PCI_TRY(parse(i < root_count ? roots[i] : leaves[i - root_count], &added->frames[i], err));
    return PCOL_OK;
}

pcol_status pci_added_frames_check(const struct pci_added_frames *added, const pcol_file *file,
                                   pcol_error *err)
{
    pcol_status status = PCOL_OK;
    for (size_t i = 0; status == PCOL_OK && i < added->root_count + added->leaf_count; i++) {
        const struct pci_added_frame *frame = &added->frames[i];
        struct pci_label_columns columns;
        if (frame->kind != PCI_ADDED_LABEL)
            continue;
        status = pci_label_columns_open(&columns, file, frame->key.data, frame->key.size, err);
        pci_label_columns_close(&columns);
    }
    return status;
}

/* ---- open */

static pcol_status open_label(struct pci_frame_adder *a, struct reader *r, pcol_error *err)
{
    PCI_TRY(pci_label_columns_open(&r->columns, a->merge->file, r->frame->key.data,
                                   r->frame->key.size, err));
    PCI_TRY(PCI_CALLOC(r->batches, r->columns.count + 1, err));
    for (size_t i = 0; i < r->columns.count; i++) {
        r->batches[i].column = r->columns.columns[i].column;
        PCI_TRY(pci_verify(a->merge->file, r->batches[i].column, err));
    }
    r->batches[r->columns.count].column = r->columns.members.roots;
    return PCOL_OK;
}

static pcol_status open_row(struct pci_frame_adder *a, struct reader *r, pcol_error *err)
{
    const pcol_file *file = a->merge->file;
    int is_source = r->frame->kind == PCI_ADDED_SOURCE;
    const char *table = is_source ? "sources" : "threads";
    const char *name = is_source ? "uri" : r->frame->kind == PCI_ADDED_PROCESS ? "pid" : "name";
    PCI_TRY(PCI_CALLOC(r->batches, 1, err));
    PCI_TRY(pci_find_verified_column(file, "samples", is_source ? "source" : "thread",
                                     PCI_TYPES_ROW, &r->batches->column, err));
    PCI_TRY(pci_find_verified_column(file, table, name, PCI_TYPES_TEXT, &r->name, err));
    if (r->frame->kind != PCI_ADDED_THREAD)
        return PCOL_OK;
    return pci_find_verified_column(file, table, "tid", PCI_TYPES_TEXT, &r->other, err);
}

static pcol_status open_readers(struct pci_frame_adder *a, pcol_error *err)
{
    PCI_TRY(pci_frame_namer_open(&a->names, a->merge->file, err));
    a->count = a->added->root_count + a->added->leaf_count;
    PCI_TRY(PCI_CALLOC(a->readers, a->count + 1, err));
    for (size_t i = 0; i < a->count; i++) {
        struct reader *r = &a->readers[i];
        r->frame = &a->added->frames[i];
        PCI_TRY(pcol_builder_string(a->merge->builder, r->frame->key.data, r->frame->key.size,
                                    &r->file, err));
        if (r->frame->kind == PCI_ADDED_LABEL)
            PCI_TRY(open_label(a, r, err));
        else if (r->frame->kind != PCI_ADDED_MAPPING)
            PCI_TRY(open_row(a, r, err));
    }
    return PCOL_OK;
}

pcol_status pci_frame_adder_open(struct pci_merge *merge, struct pci_frame_adder **adder,
                                 pcol_error *err)
{
    PCI_TRY(PCI_CALLOC(*adder, 1, err));
    (*adder)->merge = merge;
    (*adder)->added = merge->selection->added;
    return open_readers(*adder, err);
}

void pci_frame_adder_close(struct pci_frame_adder *adder)
{
    if (!adder)
        return;
    for (size_t i = 0; adder->readers && i < adder->count; i++) {
        pci_label_columns_close(&adder->readers[i].columns);
        pci_free(adder->readers[i].batches);
    }
    pci_free(adder->readers);
    pci_frame_namer_close(&adder->names);
    pci_strbuf_clear(&adder->text);
    pci_free(adder);
}

/* ---- texts */

/* is_stored: the text stays where it is until the file is closed. */
static pcol_status append(struct pci_frame_adder *a, pcol_str text, int is_stored, pcol_error *err)
{
    if (!a->value_count++ && is_stored) {
        a->value = text;
        return PCOL_OK;
    }
    PCI_TRY(pci_strbuf_append(&a->text, a->value.data, a->value.size, err));
    a->value = (pcol_str){"", 0};
    if (a->value_count > 1)
        PCI_TRY(pci_strbuf_append(&a->text, ",", 1, err));
    return pci_strbuf_append(&a->text, text.data, text.size, err);
}

/* Reads the batch of a sample. label: its column, else NULL. */
static pcol_status read_batch(struct pci_frame_adder *a, struct reader *r, struct batch *b,
                              const struct pci_label_column *label, uint64_t sample,
                              pcol_error *err)
{
    uint64_t rows = b->column->desc->rows, first = sample - sample % PCI_BATCH;
    if (sample - b->first < b->count || sample >= rows)
        return PCOL_OK;
    size_t n = rows - first < PCI_BATCH ? (size_t)(rows - first) : PCI_BATCH;
    b->count = 0;
    if (label)
        PCI_TRY(pci_label_read(&r->columns, label, first, n, b->cells, b->valid, err));
    else
        PCI_TRY(pci_read(a->merge->file, b->column, first, n, b->cells, b->valid, err));
    b->first = first;
    b->count = n;
    return PCOL_OK;
}

static pcol_status get_cell(struct pci_frame_adder *a, struct reader *r, struct batch *b,
                            const struct pci_label_column *label, uint64_t sample, int64_t *bits,
                            int *valid, pcol_error *err)
{
    *bits = 0;
    *valid = 0;
    if (!b->column)
        return PCOL_OK;
    PCI_TRY(read_batch(a, r, b, label, sample, err));
    if (sample - b->first >= b->count)
        return PCOL_OK;
    *bits = b->cells[sample - b->first];
    *valid = b->valid[sample - b->first];
    return PCOL_OK;
}

static pcol_status append_value(struct pci_frame_adder *a, struct reader *r, int kind,
                                pcol_str unit, int64_t bits, pcol_str text, pcol_error *err)
{
    char buffer[PCI_LABEL_TEXT];
    if (kind == PCI_LABEL_INTEGER)
        text = (pcol_str){buffer, pci_label_scale(bits, unit, buffer)};
    return append(a, text, pci_label_is_stored(&r->columns, kind, text), err);
}

static pcol_status append_column(struct pci_frame_adder *a, struct reader *r, size_t index,
                                 uint64_t sample, pcol_error *err)
{
    const struct pci_label_column *label = &r->columns.columns[index];
    char buffer[PCI_LABEL_TEXT];
    pcol_str text = {"", 0};
    int64_t bits = 0;
    int valid = 0;
    PCI_TRY(get_cell(a, r, &r->batches[index], label, sample, &bits, &valid, err));
    if (!valid)
        return PCOL_OK;
    PCI_TRY(pci_label_text(&r->columns, label, sample, bits, buffer, &text, err));
    return append_value(a, r, label->kind, label->unit, bits, text, err);
}

/* Values of a label: those of texts before others, as in pprof. */
static pcol_status append_label(struct pci_frame_adder *a, struct reader *r, uint64_t sample,
                                pcol_error *err)
{
    struct pci_label_value value = {.member = PCI_NO_NODE};
    int64_t root;
    int valid;
    for (int texts = 1; texts >= 0; texts--)
        for (size_t i = 0; i < r->columns.count; i++)
            if ((r->columns.columns[i].kind == PCI_LABEL_STRING) == texts)
                PCI_TRY(append_column(a, r, i, sample, err));
    PCI_TRY(get_cell(a, r, &r->batches[r->columns.count], NULL, sample, &root, &valid, err));
    while (valid) {
        PCI_TRY(pci_label_members_next(&r->columns, (uint64_t)root, &value, err));
        if (value.member == PCI_NO_NODE)
            break;
        PCI_TRY(append_value(a, r, value.kind, value.unit, value.bits, value.text, err));
    }
    return PCOL_OK;
}

static pcol_status append_row(struct pci_frame_adder *a, struct reader *r, uint64_t sample,
                              pcol_error *err)
{
    const pcol_file *file = a->merge->file;
    int is_source = r->frame->kind == PCI_ADDED_SOURCE;
    const struct pci_column *columns[2] = {r->name, r->other};
    char number[24];
    pcol_str text;
    int64_t row;
    int valid;
    PCI_TRY(get_cell(a, r, r->batches, NULL, sample, &row, &valid, err));
    if (!valid && !is_source) /* samples without the column are of the first source */
        return PCOL_OK;
    for (size_t i = 0; i < 2; i++) {
        if (!columns[i])
            continue;
        if ((uint64_t)row >= columns[i]->desc->rows)
            return pci_corrupt(err, "samples", is_source ? "source" : "thread", sample,
                               "row %lld does not exist", (long long)row);
        PCI_TRY(pci_get_str(file, columns[i], (uint64_t)row, &text, &valid, err));
        if (valid && text.size)
            return append(a, text, 1, err);
    }
    if (!is_source)
        return PCOL_OK;
    text = (pcol_str){number, 0};
    text.size = (size_t)snprintf(number, sizeof number, "%lld", (long long)row + 1);
    return append(a, text, 0, err);
}

static pcol_status append_mapping(struct pci_frame_adder *a, uint32_t row, pcol_error *err)
{
    uint32_t group = pci_placed_innermost(a->merge->placed, row);
    pcol_str path;
    int valid = 0;
    if (group != PCOL_NONE)
        PCI_TRY(pci_frame_namer_mapping(&a->names, group, &path, &valid, err));
    return valid ? append(a, path, 1, err) : PCOL_OK;
}

/* ---- stacks */

static pcol_status intern_name(struct pci_frame_adder *a, uint32_t *name, pcol_error *err)
{
    pcol_str text = PCI_NAME(PCI_NAME_UNKNOWN);
    if (a->value.size)
        return pci_merge_text(a->merge, PCI_COPY, a->value, name, err);
    if (a->text.size)
        text = (pcol_str){a->text.data, a->text.size};
    PCI_TRY(pci_count_long_text(&a->long_texts, text.size, err));
    return pcol_builder_string(a->merge->builder, text.data, text.size, name, err);
}

static pcol_status add_frame(struct pci_frame_adder *a, struct reader *r, uint64_t sample,
                             uint32_t row, uint32_t *stack, pcol_error *err)
{
    pcol_builder *b = a->merge->builder;
    pcol_function function = {.size = sizeof function, .system_name = PCOL_NONE};
    pcol_line line = {.filename = PCOL_NONE};
    pcol_group group = {
        .size = sizeof group, .mapping = PCOL_NONE, .lines = &line, .line_count = 1};
    uint32_t added;
    a->text.size = 0;
    a->value_count = 0;
    a->value = (pcol_str){"", 0};
    if (r->frame->kind == PCI_ADDED_LABEL)
        PCI_TRY(append_label(a, r, sample, err));
    else if (r->frame->kind == PCI_ADDED_MAPPING)
        PCI_TRY(append_mapping(a, row, err));
    else
        PCI_TRY(append_row(a, r, sample, err));
    PCI_TRY(intern_name(a, &function.name, err));
    function.filename = r->file;
    PCI_TRY(pcol_builder_function(b, &function, &line.function, err));
    PCI_TRY(pcol_builder_group(b, &group, &added, err));
    return pcol_builder_stack(b, *stack, added, stack, err);
}

pcol_status pci_frame_adder_stack(struct pci_frame_adder *adder, uint64_t sample, uint32_t row,
                                  uint32_t *stack, pcol_error *err)
{
    struct pci_frame_adder *a = adder;
    size_t i = 0;
    *stack = 0;
    for (; i < a->added->root_count; i++)
        PCI_TRY(add_frame(a, &a->readers[i], sample, row, stack, err));
    PCI_TRY(pci_placed_stack(a->merge->placed, *stack, row, stack, err));
    for (; i < a->count; i++)
        PCI_TRY(add_frame(a, &a->readers[i], sample, row, stack, err));
    return PCOL_OK;
}
