/*
 * frame_form.c - forms of frames: recognition, parsing and printing
 */
#include "formats/folded/frame_form.h"

#include "formats/folded/line_parser.h"
#include "util/integer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_LINE_NUMBER 18u

const char *const pci_folded_form_texts[PCI_FOLDED_FORMS] = {
    NULL, "file:function:line", "file:function:Lline", "function (file:line)"};

static int is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static size_t count_digits(const uint8_t *text, size_t end)
{
    size_t count = 0;
    while (count < end && is_digit(text[end - 1 - count]))
        count++;
    return count;
}

/* Parse the line number at the end of [text, *size), and remove it with the colon before it. */
static int take_line(enum pci_folded_form form, const uint8_t *text, size_t *size, int64_t *line)
{
    size_t digits = count_digits(text, *size), start = *size - digits;
    *line = 0;
    if (!digits || digits > LONGEST_LINE_NUMBER || (digits > 1 && text[start] == '0'))
        return 0;
    (void)pci_parse_i64(text + start, digits, line);
    if (form == PCI_FOLDED_FILE_FIRST_L && (!start || text[--start] != 'L'))
        return 0;
    if (!start || text[start - 1] != ':')
        return 0;
    *size = start - 1;
    return 1;
}

/* Whether a text ends in a colon and a number: what precedes is no name of a file. */
static int ends_in_number(const uint8_t *text, size_t size)
{
    size_t digits = count_digits(text, size);
    return digits && digits < size && text[size - digits - 1] == ':';
}

static pcol_str make_str(const uint8_t *text, size_t size)
{
    return (pcol_str){(const char *)text, size};
}

static int parse_file_first(const uint8_t *text, size_t size, struct pci_folded_frame *frame)
{
    size_t drive = size > 2 && text[1] == ':' && (text[2] == '\\' || text[2] == '/') ? 2 : 0;
    const uint8_t *colon = memchr(text + drive, ':', size - drive);
    if (!colon || colon == text || colon + 1 == text + size ||
        ends_in_number(text, size)) /* file:function:line:column */
        return 0;
    frame->file = make_str(text, (size_t)(colon - text));
    frame->function = make_str(colon + 1, size - frame->file.size - 1);
    return 1;
}

static int parse_file_last(const uint8_t *text, size_t size, struct pci_folded_frame *frame)
{
    size_t open = size;
    while (open > 1 && (text[open - 1] != '(' || text[open - 2] != ' '))
        open--;
    if (open < 3 || open == size || ends_in_number(text + open, size - open))
        return 0;
    frame->function = make_str(text, open - 2);
    frame->file = make_str(text + open, size - open);
    return 1;
}

int pci_folded_parse_frame(enum pci_folded_form form, const uint8_t *text, size_t size,
                           struct pci_folded_frame *frame)
{
    if (form == PCI_FOLDED_NAME || !size)
        return 0;
    if (form != PCI_FOLDED_FILE_LAST)
        return take_line(form, text, &size, &frame->line) && parse_file_first(text, size, frame);
    return text[--size] == ')' && take_line(form, text, &size, &frame->line) &&
           parse_file_last(text, size, frame);
}

size_t pci_folded_print_frame(enum pci_folded_form form, const struct pci_folded_frame *frame,
                              char *to)
{
    int last = form == PCI_FOLDED_FILE_LAST;
    pcol_str first = last ? frame->function : frame->file;
    pcol_str second = last ? frame->file : frame->function;
    const char *between = last ? " (" : ":";
    size_t size = first.size;
    memcpy(to, first.data, size);
    memcpy(to + size, between, strlen(between));
    size += strlen(between);
    memcpy(to + size, second.data, second.size);
    size += second.size;
    int n = snprintf(to + size, PCI_FOLDED_FRAME_MARGIN - 2, ":%s%" PRId64 "%s",
                     form == PCI_FOLDED_FILE_FIRST_L ? "L" : "", frame->line, last ? ")" : "");
    return size + (size_t)n;
}

/* ---- recognition */

/* Whether a text is the name of a file: "a.py", "/bin/a", "<string>", "~". */
static int is_file_name(pcol_str text)
{
    return text.data[0] == '<' || text.data[0] == '~' || memchr(text.data, '.', text.size) ||
           memchr(text.data, '/', text.size) || memchr(text.data, '\\', text.size);
}

/* Count the frames of a stack, all of them in counts[NAME]. */
static void count_frames(const uint8_t *text, size_t size, uint64_t *counts)
{
    struct pci_folded_frame frame;
    pcol_str pid, tid;
    size_t at = pci_folded_parse_thread(text, size, &pid, &tid);
    while (at < size) {
        const uint8_t *end = memchr(text + at, ';', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        counts[PCI_FOLDED_NAME]++;
        for (int form = PCI_FOLDED_NAME + 1; form < PCI_FOLDED_FORMS; form++)
            counts[form] +=
                pci_folded_parse_frame((enum pci_folded_form)form, text + at, length, &frame) &&
                is_file_name(frame.file);
        at += length + 1;
    }
}

enum pci_folded_form pci_folded_find_form(const uint8_t *data, size_t size, int all)
{
    uint64_t counts[PCI_FOLDED_FORMS] = {0};
    for (size_t at = size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0; at < size;) {
        const uint8_t *text = data + at, *feed = memchr(text, '\n', size - at);
        size_t length = feed ? (size_t)(feed - text) : size - at;
        struct pci_folded_parts parts;
        at += length + 1;
        length -= length && text[length - 1] == '\r';
        if (feed || all) {
            if (text[0] != '#' && pci_folded_split(text, length, &parts))
                count_frames(text, parts.stack, counts);
        } else { /* a truncated line: its complete frames */
            while (length && text[length - 1] != ';')
                length--;
            if (length)
                count_frames(text, length - 1, counts);
        }
    }
    for (int form = PCI_FOLDED_NAME + 1; form < PCI_FOLDED_FORMS; form++)
        if (counts[form] && counts[form] * 2 >= counts[PCI_FOLDED_NAME])
            return (enum pci_folded_form)form;
    return PCI_FOLDED_NAME;
}

/* ---- threads */

/* The size of the number of a thread: digits, or austin's 0x7f and 1:7f. */
static size_t number_size(const uint8_t *text, size_t size)
{
    size_t used = 0;
    while (used < size && text[used] && strchr("0123456789abcdefABCDEFx:", text[used]))
        used++;
    return used;
}

int pci_folded_is_thread(pcol_str pid, pcol_str tid)
{
    return tid.size && number_size((const uint8_t *)tid.data, tid.size) == tid.size &&
           (!pid.size || (is_digit((uint8_t)pid.data[0]) &&
                          number_size((const uint8_t *)pid.data, pid.size) == pid.size));
}

size_t pci_folded_parse_thread(const uint8_t *text, size_t size, pcol_str *pid, pcol_str *tid)
{
    size_t start = 4, number;
    *pid = *tid = (pcol_str){"", 0};
    if (size > 1 && text[0] == 'P' && is_digit(text[1])) {
        number = number_size(text + 1, size - 1);
        *pid = make_str(text + 1, number);
        start = number + 3;
        if (size < start || memcmp(text + number + 1, ";T", 2) != 0)
            return 0;
    } else if (size < start || memcmp(text, "tid:", 4) != 0) {
        return 0;
    }
    number = number_size(text + start, size - start);
    *tid = make_str(text + start, number);
    if (!number || (start + number < size && text[start + number] != ';'))
        return 0;
    return start + number + (start + number < size);
}
