/*
 * write_native.c - export of folded stacks to folded stacks, and the choice of the writer
 *
 * One line for each row of samples, in order: stack and count, or the original text where stack and
 * count do not reproduce it.
 */
#include "formats/folded/write_native.h"
#include "formats/folded/folded.h"
#include "formats/folded/frame_form.h"

#include "formats/folded/line_parser.h"
#include "formats/folded/misread.h"
#include "model/frame_names.h"
#include "model/stack_path.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <string.h>

const struct pci_capabilities pci_folded_capabilities = {.loss_prefix =
                                                             "folded stacks cannot hold"};

struct native {
    const pcol_file *file;
    struct pci_folded_output output;
    const struct pci_selected_type *chosen;
    const struct pci_types *types;
    const struct pci_column *text, *stack, *function, *name;
    const struct pci_column *file_name, *line_number, *thread, *tid, *pid; /* with a form */
    enum pci_folded_form form;
    struct pci_stack_path path;
    char *line; /* frames of the current path, each followed by a semicolon */
    size_t line_capacity;
    size_t *ends; /* size of `line` by depth */
    size_t end_capacity;
    int crlf;
    /* What no text has: names with semicolons or line ends, stacks of one name that is empty. */
    int has_separators, has_unnamed;
};

/* Open the columns of frames and prefixes that have parts. */
static pcol_status open_form(struct native *o, uint32_t source, pcol_error *err)
{
    const struct pci_column_request columns[] = {
        {"functions", "filename", PCI_TYPES_TEXT, &o->file_name},
        {"locations", "line", PCI_TYPE(PCF_I64), &o->line_number},
        {"samples", "thread", PCI_TYPES_ROW, &o->thread},
        {"threads", "tid", PCI_TYPES_TEXT, &o->tid},
        {"threads", "pid", PCI_TYPES_TEXT, &o->pid}};
    const struct pci_column *form;
    pcol_str text;
    int valid = 0;
    PCI_TRY(pci_find_verified_column(o->file, "sources", "frame_form", PCI_TYPES_TEXT, &form, err));
    PCI_TRY(pci_get_str(o->file, form, source, &text, &valid, err));
    for (int i = PCI_FOLDED_NAME + 1; valid && i < PCI_FOLDED_FORMS; i++)
        if (pci_str_is(text, pci_folded_form_texts[i]))
            o->form = (enum pci_folded_form)i;
    return o->form
               ? pci_find_verified_columns(o->file, columns, sizeof columns / sizeof *columns, err)
               : PCOL_OK;
}

static pcol_status open_columns(struct native *o, uint32_t source, pcol_error *err)
{
    const struct pci_column *crlf;
    int64_t value = 0;
    PCI_TRY(pci_find_verified_column(o->file, "samples", "text", PCI_TYPES_TEXT, &o->text, err));
    PCI_TRY(pci_find_verified_column(o->file, "samples", "stack", PCI_TYPES_ROW, &o->stack, err));
    PCI_TRY(pci_find_verified_column(o->file, "locations", "function", PCI_TYPES_ROW, &o->function,
                                     err));
    PCI_TRY(pci_find_verified_column(o->file, "functions", "name", PCI_TYPES_TEXT, &o->name, err));
    PCI_TRY(pci_find_verified_column(o->file, "sources", "crlf", PCI_TYPE(PCF_BOOL), &crlf, err));
    PCI_TRY(pci_get(o->file, crlf, source, &value, &(int){0}, err));
    o->crlf = value != 0;
    return open_form(o, source, err);
}

/* Name of a frame, which has exactly one location in folded stacks; *has_place: it has a file and
 * a line, too. */
static pcol_status read_frame(struct native *o, const struct pci_stack_step *step,
                              struct pci_folded_frame *frame, int *has_place, pcol_error *err)
{
    pcol_str *name = &frame->function;
    int64_t function;
    int valid = 0;
    *name = (pcol_str){"", 0};
    *has_place = 0;
    PCI_TRY(pci_get(o->file, o->function, step->first, &function, &valid, err));
    if (!valid || !o->name)
        return PCOL_OK;
    if ((uint64_t)function >= o->name->desc->rows)
        return pci_corrupt(err, "locations", "function", step->first,
                           "function %lld does not exist", (long long)function);
    if (o->file_name && o->line_number && (uint64_t)function < o->file_name->desc->rows) {
        PCI_TRY(
            pci_get_str(o->file, o->file_name, (uint64_t)function, &frame->file, has_place, err));
        PCI_TRY(pci_get(o->file, o->line_number, step->first, &frame->line, &valid, err));
        *has_place = *has_place && valid;
    }
    return pci_get_str(o->file, o->name, (uint64_t)function, name, &valid, err);
}

/* Append the text of a frame and a semicolon to `line`. */
static pcol_status append_frame(struct native *o, const struct pci_stack_step *step, size_t *end,
                                pcol_error *err)
{
    struct pci_folded_frame frame = {.file = {"", 0}};
    int has_place;
    PCI_TRY(read_frame(o, step, &frame, &has_place, err));
    size_t size = frame.function.size;
    size += has_place ? frame.file.size + PCI_FOLDED_FRAME_MARGIN : 0;
    o->output.has_parts |= has_place;
    if (size > PCI_FOLDED_LONGEST - *end)
        return pci_fail(err, PCOL_E_LIMIT, "text of a call stack is longer than %zu bytes",
                        PCI_FOLDED_LONGEST);
    PCI_TRY(PCI_GROW(o->line, o->line_capacity, *end + size + 1, err));
    if (has_place)
        size = pci_folded_print_frame(o->form, &frame, o->line + *end);
    else if (size)
        memcpy(o->line + *end, frame.function.data, size);
    if (!has_place &&
        pci_folded_parse_frame(o->form, (const uint8_t *)o->line + *end, size, &frame))
        o->output.is_misread = 1;
    o->has_separators |= pci_folded_replace_separators(o->line + *end, size, 0);
    *end += size;
    o->line[(*end)++] = ';';
    return PCOL_OK;
}

static pcol_status update_line(struct native *o, uint64_t node, size_t *size, pcol_error *err)
{
    PCI_TRY(pci_stack_path_to(&o->path, node, err));
    size_t depth = o->path.depth;
    PCI_TRY(PCI_GROW(o->ends, o->end_capacity, depth + 1, err));
    for (size_t i = o->path.common_depth; i < depth; i++) {
        o->ends[i] = i ? o->ends[i - 1] : 0;
        PCI_TRY(append_frame(o, &o->path.steps[i], &o->ends[i], err));
    }
    *size = depth ? o->ends[depth - 1] - 1 : 0;
    return PCOL_OK;
}

static pcol_status read_count(struct native *o, uint64_t row, struct pci_folded_count *count,
                              int *valid, pcol_error *err)
{
    *valid = 0;
    for (uint32_t i = 0; i < o->chosen->count && !*valid; i++) {
        const struct pci_column *column = o->types->columns[o->chosen->rows[i]];
        int64_t bits;
        if (!column)
            continue;
        PCI_TRY(pci_get(o->file, column, row, &bits, valid, err));
        count->is_double = column->desc->type == PCF_F64;
        memcpy(&count->as, &bits, sizeof bits);
    }
    return PCOL_OK;
}

/* Write the prefix of the thread of a sample, if it has one; stack: of the sample. */
static pcol_status write_thread(struct native *o, uint64_t row, uint64_t stack, int *is_written,
                                pcol_error *err)
{
    struct pci_folded_output *output = &o->output;
    pcol_str tid, pid = {"", 0};
    int64_t thread;
    int valid = 0;
    *is_written = 0;
    if (o->thread && o->tid)
        PCI_TRY(pci_get(o->file, o->thread, row, &thread, &valid, err));
    if (!valid)
        return PCOL_OK;
    if ((uint64_t)thread >= o->tid->desc->rows)
        return pci_corrupt(err, "samples", "thread", row, "thread %lld does not exist",
                           (long long)thread);
    PCI_TRY(pci_get_str(o->file, o->tid, (uint64_t)thread, &tid, &valid, err));
    if (o->pid && (uint64_t)thread < o->pid->desc->rows)
        PCI_TRY(pci_get_str(o->file, o->pid, (uint64_t)thread, &pid, &(int){0}, err));
    if (!valid)
        return PCOL_OK;
    *is_written = output->has_parts = 1;
    output->is_misread |= !pci_folded_is_thread(pid, tid);
    if (pid.size) {
        PCI_TRY(pci_folded_put(output, "P", 1, err));
        PCI_TRY(pci_folded_put(output, pid.data, pid.size, err));
    }
    PCI_TRY(pci_folded_put(output, pid.size ? ";T" : "tid:", pid.size ? 2 : 4, err));
    PCI_TRY(pci_folded_put(output, tid.data, tid.size, err));
    return stack ? pci_folded_put(output, ";", 1, err) : PCOL_OK;
}

static pcol_status write_row(struct native *o, uint64_t row, pcol_error *err)
{
    struct pci_folded_count count;
    char number[PCI_FOLDED_COUNT_SIZE];
    pcol_str text;
    int64_t stack = 0;
    int valid = 0, has_thread;
    size_t size = 0;
    PCI_TRY(pci_get_str(o->file, o->text, row, &text, &valid, err));
    if (valid) {
        o->output.has_parts |= o->form != PCI_FOLDED_NAME;
        o->output.lines++;
        return pci_folded_put(&o->output, text.data, text.size, err);
    }
    PCI_TRY(read_count(o, row, &count, &valid, err));
    size_t digits = valid ? pci_folded_print(&count, number) : 0;
    if (!digits) /* a row without a count is no line */
        return PCOL_OK;
    PCI_TRY(pci_get(o->file, o->stack, row, &stack, &valid, err));
    PCI_TRY(update_line(o, (uint64_t)stack, &size, err));
    PCI_TRY(write_thread(o, row, (uint64_t)stack, &has_thread, err));
    text = (pcol_str){o->line, size};
    if (stack && !size && !has_thread) {
        text = (pcol_str)PCI_NAME(PCI_NAME_UNKNOWN);
        o->has_unnamed = 1;
    }
    PCI_TRY(pci_folded_put_stack(&o->output, text.data, text.size, !has_thread, err));
    if (o->form != PCI_FOLDED_NAME && !has_thread)
        o->output.is_misread |=
            pci_folded_parse_thread((const uint8_t *)text.data, text.size, &text, &text) > 0;
    PCI_TRY(pci_folded_put(&o->output, " ", 1, err));
    PCI_TRY(pci_folded_put(&o->output, number, digits, err));
    return pci_folded_put(&o->output, o->crlf ? "\r\n" : "\n", o->crlf ? 2 : 1, err);
}

static pcol_status write_rows(struct native *o, uint32_t source, pcol_error *err)
{
    uint64_t rows = pci_rows(o->file, "samples"), written = 0;
    const struct pci_column *from = o->types->source, *text;
    PCI_TRY(open_columns(o, source, err));
    PCI_TRY(pci_stack_path_open(&o->path, o->file, err));
    o->path.written.most = PCI_STREAMED_FRAMES;
    for (uint64_t row = 0; row < rows; row++) {
        int64_t of = 0;
        PCI_TRY(pci_get(o->file, from, row, &of, &(int){0}, err));
        if ((uint64_t)of != source)
            continue;
        PCI_TRY(write_row(o, row, err));
        written++;
    }
    PCI_TRY(pci_find_verified_column(o->file, "sources", "text", PCI_TYPES_TEXT, &text, err));
    if (!text || written)
        return PCOL_OK;
    pcol_str comments;
    PCI_TRY(pci_get_str(o->file, text, source, &comments, &(int){0}, err));
    return pci_folded_put(&o->output, comments.data, comments.size, err);
}

static pcol_status write_native(const struct pci_export *export, const struct pci_types *types,
                                const struct pci_selected_type *chosen, struct pci_out *out,
                                pcol_error *err)
{
    static const struct pci_loss losses[] = {
        PCI_FOLDED_MISREAD,
        PCI_FOLDED_SEPARATORS,
        {"stacks of one frame without a name: it gets one", ""},
    };
    struct native o = {
        .file = export->file, .output = {.out = out}, .chosen = chosen, .types = types};
    pcol_status status = write_rows(&o, export->first_source, err);
    if (status == PCOL_OK)
        pci_export_report(export, losses, sizeof losses / sizeof *losses,
                          (pci_folded_is_misread(&o.output, o.form) ? 1u : 0) |
                              (o.has_separators ? 2u : 0) | (o.has_unnamed ? 4u : 0));
    pci_stack_path_close(&o.path);
    pci_free(o.line);
    pci_free(o.ends);
    return status;
}

pcol_status pci_folded_write(const struct pci_export *export, pcol_error *err)
{
    struct pci_types types;
    struct pci_selected_type chosen = {0};
    struct pci_out *out;
    int native;
    PCI_TRY(PCI_MALLOC(out, 1, err));
    pci_out_open(out, export->sink);
    pcol_status status = pci_export_is_only(export, "folded", &native, err);
    PCI_THEN(status, pci_types_open(export->file, &types, err));
    if (status == PCOL_OK) {
        status = pci_types_verify(&types, err);
        PCI_THEN(status, pci_types_select(&types, export->first_source, export->last_source,
                                          export->options->sample_type, &chosen, err));
        PCI_THEN(status, native ? write_native(export, &types, &chosen, out, err)
                                : pci_folded_write_generic(export, &types, &chosen, out, err));
        pci_free(chosen.rows);
        pci_types_close(&types);
    }
    PCI_THEN(status, pci_out_flush(out, err));
    if (status == PCOL_OK && native)
        status = pci_export_losses(export, "", err);
    pci_free(out);
    return status;
}
