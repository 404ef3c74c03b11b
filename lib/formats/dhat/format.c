/*
 * format.c - Valgrind's DHAT profiles: name, capabilities, values and the text of frames
 */
#include "formats/dhat/dhat.h"

#include "util/alloc.h"
#include "util/integer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct pci_format_schema pci_dhat_schema = {
    .source_type = "dhat", .fixed_frames = 1, .tables = pci_dhat_tables};

const struct pci_format pci_dhat_format = {
    .info = {"dhat", "heap profile of Valgrind's DHAT, JSON", ".dhat .dhat.json",
             "everything: an equal JSON value is restored", 1, 1},
    .sniff = pci_dhat_sniff,
    .read = pci_dhat_read,
    .write = pci_dhat_write,
    .capabilities = &pci_dhat_capabilities,
};

const struct pci_dhat_value pci_dhat_values[PCI_DHAT_VALUES] = {
    {"tb", "total_bytes", "bu", "bytes"},     {"tbk", "total_blocks", "bksu", "count"},
    {"tl", "total_lifetimes", "tu", "count"}, {"mb", "max_bytes", "bu", "bytes"},
    {"mbk", "max_blocks", "bksu", "count"},   {"gb", "gmax_bytes", "bu", "bytes"},
    {"gbk", "gmax_blocks", "bksu", "count"},  {"eb", "end_bytes", "bu", "bytes"},
    {"ebk", "end_blocks", "bksu", "count"},   {"rb", "read_bytes", "bu", "bytes"},
    {"wb", "written_bytes", "bu", "bytes"},
};

/* ---- frames */

static int get_digit(char c)
{
    const char *digits = "0123456789ABCDEFabcdef", *at = c ? strchr(digits, c) : NULL;
    return !at ? -1 : at - digits < 16 ? (int)(at - digits) : (int)(at - digits) - 6;
}

/* The address before ": ", at most 16 digits. */
static void parse_address(pcol_str *text, struct pci_dhat_frame *frame)
{
    size_t at = 2;
    uint64_t address = 0;
    if (text->size < 2 || memcmp(text->data, "0x", 2) != 0)
        return;
    for (; at < text->size && at < 18 && get_digit(text->data[at]) >= 0; at++)
        address = address << 4 | (uint64_t)get_digit(text->data[at]);
    if (at == 2 || text->size - at < 2 || memcmp(text->data + at, ": ", 2) != 0)
        return;
    frame->has_address = 1;
    frame->address = address;
    *text = (pcol_str){text->data + at + 2, text->size - at - 2};
}

/* Cut ":NUMBER" off the end of a place, if something precedes it. */
static int cut_number(pcol_str *place, int64_t *number)
{
    size_t colon = place->size;
    while (colon && get_digit(place->data[colon - 1]) >= 0 &&
           get_digit(place->data[colon - 1]) < 10)
        colon--;
    size_t digits = place->size - colon;
    if (colon < 2 || place->data[colon - 1] != ':' || !digits || digits > 18)
        return 0;
    (void)pci_parse_i64(place->data + colon, digits, number);
    place->size = colon - 1;
    return 1;
}

/* Index after the parenthesis, with a blank before it, that the last byte closes; without one after
 * the last that a blank precedes, which may be 0: names can have parentheses without a pair. */
static size_t find_open(const char *data, size_t size)
{
    size_t last = 0, depth = 0;
    for (size_t i = size; i-- > 1;) {
        depth += data[i] == ')';
        if (data[i] != '(')
            continue;
        if (data[i - 1] == ' ' && depth == 1)
            return i + 1;
        if (data[i - 1] == ' ' && !last)
            last = i + 1;
        depth -= depth > 0;
    }
    return last;
}

/* The text within the last parentheses: "in OBJECT" or "FILE:LINE". */
static void parse_place(pcol_str *text, struct pci_dhat_frame *frame)
{
    const char *data = text->data;
    if (!text->size || data[text->size - 1] != ')')
        return;
    size_t open = find_open(data, text->size);
    if (!open)
        return;
    pcol_str place = {data + open, text->size - open - 1};
    if (place.size > 3 && !memcmp(place.data, "in ", 3)) {
        frame->object = (pcol_str){place.data + 3, place.size - 3};
        text->size = open - 2;
        return;
    }
    frame->has_line = cut_number(&place, &frame->line);
    if (!frame->has_line)
        return;
    frame->column = frame->line;
    frame->has_column = cut_number(&place, &frame->line);
    frame->file = place;
    text->size = open - 2;
}

void pci_dhat_parse_frame(pcol_str text, struct pci_dhat_frame *frame)
{
    *frame = (struct pci_dhat_frame){0};
    parse_address(&text, frame);
    if (frame->has_address) {
        parse_place(&text, frame);
        if (text.size == 3 && !memcmp(text.data, "???", 3))
            text.size = 0;
    }
    frame->function = text;
}

static char *put(char *to, pcol_str text)
{
    if (text.size)
        memcpy(to, text.data, text.size);
    return to + text.size;
}

static char *put_text(char *to, const char *text)
{
    return put(to, (pcol_str){text, strlen(text)});
}

pcol_status pci_dhat_print_frame(const struct pci_dhat_frame *f, char **text, size_t *size,
                                 pcol_error *err)
{
    char number[64], *to;
    *text = to = pci_malloc(f->function.size + f->file.size + f->object.size + 112, 1);
    if (!to)
        return pci_fail_memory(err);
    if (f->has_address) {
        snprintf(number, sizeof number, "0x%" PRIX64 ": ", f->address);
        to = put_text(to, number);
    }
    to = f->has_address && !f->function.size ? put_text(to, "???") : put(to, f->function);
    if (f->has_line) {
        if (f->has_column)
            snprintf(number, sizeof number, ":%" PRId64 ":%" PRId64 ")", f->line, f->column);
        else
            snprintf(number, sizeof number, ":%" PRId64 ")", f->line);
        to = put_text(put(put_text(to, " ("), f->file), number);
    } else if (f->object.size) {
        to = put_text(put(put_text(to, " (in "), f->object), ")");
    }
    *size = (size_t)(to - *text);
    return PCOL_OK;
}
