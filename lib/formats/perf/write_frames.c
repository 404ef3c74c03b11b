/*
 * write_frames.c - frames and source lines of perf script text (write.h)
 */
#include "formats/perf/frame_groups.h"
#include "formats/perf/write.h"

#include "builder/rows.h"

#include <inttypes.h>
#include <string.h>

#define MOST_TEXT ((size_t)64 << 20) /* bytes of lines that are kept */

pcol_status pci_perf_find_addresses(struct pci_perf_writer *w, uint32_t group,
                                    enum pci_perf_addresses *addresses, pcol_error *err)
{
    int64_t mapping, limit;
    pcol_str object;
    int valid;
    *addresses = PCI_PERF_UNKNOWN;
    PCI_TRY(pci_frame_namer_mapping(&w->names, group, &object, &valid, err));
    if (!valid || !object.size || object.data[0] != '/')
        return PCOL_OK;
    PCI_TRY(pci_get(w->file, w->mapping, group, &mapping, &valid, err));
    PCI_TRY(pci_get(w->file, w->limit, (uint64_t)mapping, &limit, &valid, err));
    *addresses = !valid || !limit || limit == -1 ? PCI_PERF_VIRTUAL
                 : limit == PCI_ALL_OFFSETS      ? PCI_PERF_OFFSETS
                                                 : PCI_PERF_UNKNOWN;
    return PCOL_OK;
}

static pcol_status put_offset(struct pci_perf_writer *w, const char *key, uint64_t *offset,
                              int *has, pcol_error *err)
{
    const struct pci_label_cell *entry = pci_perf_group_label(w, key, PCI_LABEL_INTEGER);
    *has = entry != NULL;
    *offset = entry ? (uint64_t)entry->as.i64 : 0;
    return entry ? pci_perf_putf(w, err, "+0x%" PRIx64, *offset) : PCOL_OK;
}

static pcol_status put_object(struct pci_perf_writer *w, uint32_t group, pcol_error *err)
{
    struct pci_perf_frame *f = &w->frame;
    int valid, has_offset;
    if (w->is_perf && pci_perf_group_label(w, "no_object", PCI_LABEL_BOOL))
        return PCOL_OK;
    PCI_TRY(pci_frame_namer_mapping(&w->names, group, &f->object, &valid, err));
    f->in_object = 1;
    f->has_object = valid && f->object.size;
    PCI_TRY(pci_perf_put(w, " (", 2, err));
    PCI_TRY(pci_perf_put_text(w, f->has_object ? f->object : (pcol_str){"[unknown]", 9}, err));
    PCI_TRY(put_offset(w, "object_offset", &f->object_offset, &has_offset, err));
    f->has_object_offset = has_offset != 0;
    return pci_perf_put(w, ")", 1, err);
}

/* Number of lines of the current group, from the innermost on, that are marked (inlined). *offsets:
 * their offsets: hexadecimal digits or nothing, separated by commas. */
static uint64_t count_inlined(const struct pci_perf_writer *w, const struct pci_stack_step *step,
                              pcol_str *offsets)
{
    const struct pci_label_cell *entry =
        w->is_perf ? pci_perf_group_label(w, "inlined_offsets", PCI_LABEL_STRING) : NULL;
    uint64_t count = 1;
    *offsets = entry ? entry->as.text : (pcol_str){"", 0};
    for (size_t i = 0; i < offsets->size; i++)
        count += offsets->data[i] == ',';
    return entry && count == step->count ? count : step->count - 1;
}

/* Write the first of the offsets and remove it from *offsets. */
static pcol_status put_inlined(struct pci_perf_writer *w, pcol_str *offsets, pcol_error *err)
{
    const char *comma = offsets->size ? memchr(offsets->data, ',', offsets->size) : NULL;
    size_t size = comma ? (size_t)(comma - offsets->data) : offsets->size;
    if (size) {
        PCI_TRY(pci_perf_put(w, "+0x", 3, err));
        PCI_TRY(pci_perf_put_text(w, (pcol_str){offsets->data, size}, err));
    }
    w->frame.inlined = 1;
    w->frame.has_offset = size > 0;
    offsets->data += size + (comma != NULL);
    offsets->size -= size + (comma != NULL);
    return pci_perf_put(w, " (inlined)", 10, err);
}

int pci_perf_has_colon(pcol_str text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == ':' &&
            (i + 1 == text.size || text.data[i + 1] == ' ' || text.data[i + 1] == '\t'))
            return 1;
    return 0;
}

static pcol_status put_symbol(struct pci_perf_writer *w, const struct pci_name *name,
                              pcol_error *err)
{
    struct pci_perf_frame *f = &w->frame;
    f->in_symbol = 1;
    if (!name->is_made || !w->is_perf) {
        f->has_symbol = 1;
        f->symbol = name->name;
        return pci_perf_put_text(w, name->name, err);
    }
    f->in_symbol = !pci_perf_group_label(w, "no_symbol", PCI_LABEL_BOOL);
    return f->in_symbol ? pci_perf_put(w, "[unknown]", 9, err) : PCOL_OK;
}

/* 1 for a frame without an address that readers refuse, because others begin with one. */
static int lacks_address(const struct pci_perf_writer *w, const struct pci_name *name, int inlined)
{
    return w->is_perf && w->addressed && !inlined &&
           !pci_perf_is_beyond((const uint8_t *)name->name.data, name->name.size);
}

/* Write the frame of one line of a group; `offsets` as for put_line(). */
static pcol_status put_frame(struct pci_perf_writer *w, const struct pci_stack_step *step,
                             const struct pci_name *name, pcol_str *offsets, pcol_error *err)
{
    struct pci_perf_frame *f = &w->frame;
    int64_t address;
    int has_address, has_offset;
    memset(f, 0, sizeof *f);
    PCI_TRY(pci_get(w->file, w->address, step->group, &address, &has_address, err));
    PCI_TRY(pci_perf_put(w, w->chains ? "\t" : " ", 1, err));
    if (!has_address && lacks_address(w, name, offsets != NULL)) {
        w->lost |= LOSS_NO_ADDRESS;
        has_address = 1;
    }
    f->has_address = has_address || !w->is_perf;
    f->address = (uint64_t)address;
    if (f->has_address)
        PCI_TRY(pci_perf_putf(w, err, "%16" PRIx64 " ", f->address));
    PCI_TRY(put_symbol(w, name, err));
    if (offsets)
        return put_inlined(w, offsets, err);
    PCI_TRY(put_offset(w, "offset", &f->offset, &has_offset, err));
    f->has_offset = has_offset != 0;
    PCI_TRY(put_object(w, step->group, err));
    const struct pci_label_cell *after = pci_perf_after_frame(w);
    if (!after || w->chains)
        return PCOL_OK;
    return pci_perf_put_fields(w, after->as.text, err);
}

/* 1 if the current line is parsed as the frame that was written, after a header if there are no
 * call chains. */
static int verify_frame(const struct pci_perf_writer *w, int first)
{
    const struct pci_perf_frame *expected = &w->frame;
    const struct pci_label_cell *after = pci_perf_after_frame(w);
    struct pci_perf_header h;
    struct pci_perf_tail tail;
    struct pci_perf_frame f;
    const uint8_t *text = (const uint8_t *)w->line.data;
    struct pci_perf_source source;
    if (w->chains) {
        if ((!first && w->addressed && pci_perf_source_line(text, w->line.size, &source)) ||
            !pci_perf_frame(text, w->line.size, w->addressed, &f))
            return 0;
    } else {
        if (!pci_perf_verify_header(w, &h) || !pci_perf_tail_frame(&h, w->addressed, &tail) ||
            !pci_str_equal(tail.before, w->header.tail) ||
            !pci_str_equal(tail.after, after ? after->as.text : (pcol_str){"", 0}))
            return 0;
        f = tail.frame;
    }
    return pci_perf_same_field(f.has_symbol, f.symbol, expected->has_symbol, expected->symbol) &&
           pci_perf_same_field(f.has_object, f.object, expected->has_object, expected->object) &&
           !f.beyond && f.has_address == expected->has_address &&
           (!f.has_address || f.address == expected->address) &&
           f.in_symbol == expected->in_symbol && f.in_object == expected->in_object &&
           f.inlined == expected->inlined && f.has_offset == expected->has_offset &&
           (f.inlined || f.offset == expected->offset) &&
           f.has_object_offset == expected->has_object_offset &&
           f.object_offset == expected->object_offset;
}

/* 1 if the current line is parsed as the source line that was written. */
static int verify_source_line(const struct pci_perf_writer *w, const struct pci_name *name)
{
    struct pci_perf_source source;
    return pci_perf_source_line((const uint8_t *)w->line.data, w->line.size, &source) &&
           !source.inlined && pci_str_equal(source.file, name->filename) &&
           source.line == name->line;
}

/* 0 if the line was verified before, written in the same mode. Only for call chains. */
static int needs_check(struct pci_perf_writer *w, uint64_t location, int first)
{
    uint8_t mode = (uint8_t)(1 | w->addressed << 1 | w->is_perf << 2 | first << 3);
    int known = w->chains && w->checked[location] == mode;
    w->checked[location] = mode;
    return !known;
}

/* Write a line of a group. offsets: of the inlined lines from this one on, NULL if it is not
 * inlined; first: no frame precedes it. */
static pcol_status put_line(struct pci_perf_writer *w, const struct pci_stack_step *step,
                            uint64_t line, pcol_str *offsets, int first, pcol_error *err)
{
    struct pci_name name;
    PCI_TRY(pci_frame_namer_get(&w->names, step->first + line, step->group, &name, err));
    PCI_TRY(put_frame(w, step, &name, offsets, err));
    int check = needs_check(w, step->first + line, first);
    if (check && !verify_frame(w, first))
        w->lost |= LOSS_PARSED;
    if (check && w->chains && w->frame.address && w->frame.address < PCI_ALL_OFFSETS) {
        enum pci_perf_addresses addresses;
        PCI_TRY(pci_perf_find_addresses(w, step->group, &addresses, err));
        w->lost |= addresses == PCI_PERF_VIRTUAL ? LOSS_ADDRESSES : 0;
    }
    w->addressed |= w->frame.has_address;
    PCI_TRY(pci_perf_end_line(w, err));
    if (!name.has_line || !name.has_filename || !name.filename.size || name.line < 0) {
        w->lost |= name.has_line ? LOSS_LINE : name.has_filename ? LOSS_FILE : 0u;
        return PCOL_OK;
    }
    /* A line with a leading tab is never parsed as a header. */
    int tab = pci_perf_has_colon(name.filename);
    PCI_TRY(pci_perf_put(w, tab ? "\t" : "  ", tab ? 1 : 2, err));
    PCI_TRY(pci_perf_put_text(w, name.filename, err));
    PCI_TRY(pci_perf_putf(w, err, ":%" PRId64, name.line));
    if (check && (!w->addressed || !verify_source_line(w, &name)))
        w->lost |= LOSS_PARSED;
    return pci_perf_end_line(w, err);
}

static pcol_status put_lines(struct pci_perf_writer *w, const struct pci_stack_step *step,
                             int innermost, pcol_error *err)
{
    pcol_str offsets;
    PCI_TRY(pci_labels_row(&w->group_labels, step->group, err));
    for (size_t i = 0; w->is_perf && i < w->group_labels.cell_count; i++) {
        const struct pci_label_key *key = w->group_labels.cells[i].key;
        if (!key || !pci_perf_is_group_label(key->key, key->kind))
            w->lost |= LOSS_FRAME_LABELS; /* another writer's, or renamed by a filter */
    }
    uint64_t inlined = count_inlined(w, step, &offsets);
    for (uint64_t line = 0; line < step->count; line++)
        PCI_TRY(put_line(w, step, line, line < inlined ? &offsets : NULL, innermost && !line, err));
    return PCOL_OK;
}

/* Outer frames of call chains have the same lines in every stack, once these were verified. */
pcol_status pci_perf_put_group(struct pci_perf_writer *w, const struct pci_stack_step *step,
                               int innermost, pcol_error *err)
{
    struct pci_perf_lines *written = &w->written[step->group];
    unsigned mode = 1u | (unsigned)w->addressed << 1 | (unsigned)w->is_perf << 2;
    if (innermost || !w->chains || w->bytes < PCI_PERF_LOOK_AHEAD)
        return put_lines(w, step, innermost, err);
    if (written->mode == mode) {
        w->bytes += written->size;
        return pci_out(w->out, w->texts.data + written->at, written->size, err);
    }
    size_t at = w->texts.size;
    w->keeps_text = at < MOST_TEXT;
    PCI_TRY(put_lines(w, step, 0, err));
    if (w->keeps_text)
        *written = (struct pci_perf_lines){at, w->texts.size - at, mode};
    w->keeps_text = 0;
    return PCOL_OK;
}
