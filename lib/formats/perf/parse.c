/*
 * parse.c - parsing of lines of `perf script` (parse.h)
 */
#include "formats/perf/parse.h"
#include "util/integer.h"
#include "util/strbuf.h"

#include <string.h>

/* Limits of searches, which make parsing linear in the length of any line. The kernel truncates a
 * comm to 15 bytes; an event can be a whole expression. */
#define LONGEST_COMM 256u
#define LONGEST_EVENT 1024u
/* perf script aligns thread ids to 5 columns, periods to 10, and addresses to 16, after a blank;
 * the letters of misc begin a field of 6. */
#define THREAD_COLUMNS 6u
#define PERIOD_COLUMNS 11u
#define ADDRESS_COLUMNS 17u
#define FIELD_COLUMNS 16u /* of numbers that are no addresses of frames */
#define MISC_COLUMNS 6u
#define ADDRESS_DIGITS 6u /* of an address that is not aligned */
#define CPU_DIGITS 3u

static int is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t';
}

static int is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static int hex_digit(uint8_t byte)
{
    if (is_digit(byte))
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    return -1;
}

static pcol_str str(const uint8_t *text, size_t size)
{
    return (pcol_str){(const char *)text, size};
}

static int is_number(pcol_str text)
{
    for (size_t i = 0; i < text.size; i++)
        if (!is_digit((uint8_t)text.data[i]))
            return 0;
    return text.size > 0;
}

/* A decimal number of int64's range. */
static int to_number(pcol_str text, int64_t *value)
{
    *value = 0;
    return is_number(text) && pci_parse_i64(text.data, text.size, value);
}

/* ---- headers ---- */

struct words {
    const uint8_t *text;
    size_t size, at; /* where the next word is looked for */
};

/* The next word; empty at the end. */
static pcol_str next_word(struct words *w)
{
    while (w->at < w->size && is_blank(w->text[w->at]))
        w->at++;
    size_t start = w->at;
    while (w->at < w->size && !is_blank(w->text[w->at]))
        w->at++;
    return str(w->text + start, w->at - start);
}

/* "12688", "12688/12764", "-1" (no thread) */
static int is_thread(pcol_str word, struct pci_perf_header *h)
{
    const char *slash = memchr(word.data, '/', word.size);
    pcol_str pid = word, tid = word;
    if (slash) {
        pid.size = (size_t)(slash - word.data);
        tid = (pcol_str){slash + 1, word.size - pid.size - 1};
    }
    pcol_str digits[2] = {pid, tid};
    for (int i = 0; i < 2; i++) {
        if (digits[i].size && digits[i].data[0] == '-')
            digits[i].data++, digits[i].size--;
        if (!is_number(digits[i]) || digits[i].size > 10)
            return 0;
    }
    h->has_tid = 1;
    h->tid = tid;
    h->has_pid = slash != NULL;
    h->pid = pid;
    return 1;
}

/* "[002]": its digits, or empty */
static pcol_str cpu_digits(pcol_str word)
{
    pcol_str digits = {word.data + 1, word.size - 2};
    if (word.size < 3 || word.data[0] != '[' || word.data[word.size - 1] != ']' ||
        !is_number(digits))
        return (pcol_str){"", 0};
    return digits;
}

static int is_cpu(pcol_str word, struct pci_perf_header *h)
{
    pcol_str digits = cpu_digits(word);
    h->has_cpu = digits.size > 0;
    h->beyond_cpu = h->has_cpu && !to_number(digits, &h->cpu);
    return h->has_cpu;
}

/* "6544038.708352:" */
static int is_time(pcol_str word, struct pci_perf_header *h)
{
    const char *point = memchr(word.data, '.', word.size);
    int64_t seconds, part;
    if (word.size < 4 || word.data[word.size - 1] != ':' || !point)
        return 0;
    pcol_str whole = {word.data, (size_t)(point - word.data)};
    pcol_str fraction = {point + 1, word.size - whole.size - 2};
    if (fraction.size > 9 || !is_number(whole) || !to_number(fraction, &part))
        return 0;
    for (size_t i = fraction.size; i < 9; i++)
        part *= 10;
    h->has_time = 1;
    h->is_exact = fraction.size == 6 || fraction.size == 9;
    h->beyond_time = !to_number(whole, &seconds) ||
                     __builtin_mul_overflow(seconds, INT64_C(1000000000), &seconds) ||
                     __builtin_add_overflow(seconds, part, &seconds);
    h->time_ns = h->beyond_time ? 0 : seconds;
    return 1;
}

/* Whether the last word is a time. */
static int ends_in_time(const uint8_t *text, size_t size)
{
    struct pci_perf_header unused;
    size_t at = size;
    while (at && !is_blank(text[at - 1]))
        at--;
    return is_time(str(text + at, size - at), &unused);
}

/* Letters of the CPU mode, as printed by -F misc. */
static int is_misc(pcol_str word, struct pci_perf_header *h)
{
    if (!word.size || word.size > 5)
        return 0;
    for (size_t i = 0; i < word.size; i++)
        if (!word.data[i] || !strchr("KUHGMES*", word.data[i]))
            return 0;
    h->has_misc = 1;
    h->misc = word;
    return 1;
}

/* From `at` on: [cpu] misc time, as far as they are there; where the rest begins. */
static size_t fields(const uint8_t *text, size_t size, size_t at, struct pci_perf_header *h)
{
    struct words w = {text, size, at};
    struct words before = w;
    pcol_str word = next_word(&w);
    if (is_cpu(word, h)) {
        before = w;
        word = next_word(&w);
    }
    struct words here = before;
    if (is_misc(word, h)) {
        here = w;
        word = next_word(&w);
    }
    if (is_time(word, h))
        return w.at;
    /* A word of capitals alone is ambiguous, unless it has the blanks of this field after it. */
    if (h->has_misc && !h->has_cpu && word.data < h->misc.data + MISC_COLUMNS) {
        h->has_misc = 0;
        h->misc = str(text, 0);
        return before.at;
    }
    return here.at;
}

/* Is a number, whose columns begin at `from`, aligned as perf does it? */
static int is_aligned(size_t from, size_t end, size_t columns)
{
    return end - from + (from == 0) >= columns;
}

/* An address, aligned as perf does it, at the beginning of the text? */
static int is_aligned_address(const uint8_t *text, size_t size)
{
    struct words w = {text, size, 0};
    pcol_str word = next_word(&w);
    for (size_t i = 0; i < word.size; i++)
        if (hex_digit((uint8_t)word.data[i]) < 0)
            return 0;
    return word.size && w.at >= ADDRESS_COLUMNS;
}

/* The last word of [text, end); *before: the end of the one before it. */
static pcol_str last_word(const uint8_t *text, size_t end, size_t *before)
{
    size_t at;
    while (end && is_blank(text[end - 1]))
        end--;
    for (at = end; at && !is_blank(text[at - 1]);)
        at--;
    for (*before = at; *before && is_blank(text[*before - 1]);)
        --*before;
    return str(text + at, end - at);
}

/* "insn:", "ilen:", "IPC:", "ABI:2" or branches, "0x401136/0x401140/P/-/-/0": the first words of
 * fields that are printed after frames */
static int begins_fields(pcol_str word)
{
    static const char *const names[] = {"insn:", "ilen:", "IPC:"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pci_str_is(word, names[i]))
            return 1;
    if (word.size > 4 && !memcmp(word.data, "ABI:", 4))
        return is_number((pcol_str){word.data + 4, word.size - 4});
    return word.size > 2 && !memcmp(word.data, "0x", 2) && memchr(word.data, '/', word.size);
}

/* Do words before a colon, the text after a time or period at `from`, belong to the fields of a
 * frame, and not to an event? "        401136 ilen:", "        401136 symbol:" */
static int is_frame_field(const uint8_t *text, size_t from, size_t end)
{
    size_t before;
    return begins_fields(last_word(text + from, end - from, &before)) ||
           (before && is_aligned_address(text + from, end - from));
}

/* [period] event: tail */
static void rest(const uint8_t *text, size_t size, size_t at, struct pci_perf_header *h)
{
    struct words w = {text, size, at};
    pcol_str word = next_word(&w);
    static const char record[] = "PERF_RECORD_";
    if (word.size > sizeof record && !memcmp(word.data, record, sizeof record - 1)) {
        h->is_record = 1;
        return;
    }
    size_t start = at, after = at, columns = w.at - at;
    int is_padded = columns > word.size + 1;
    int is_period = is_padded && columns == PERIOD_COLUMNS;
    h->beyond_period = is_number(word) && !to_number(word, &h->period);
    if (is_number(word)) {
        h->has_period = 1;
        h->is_aligned = is_aligned(at, w.at, PERIOD_COLUMNS) != 0;
        after = at = w.at;
        word = next_word(&w);
    }
    while (at < size && is_blank(text[at]))
        at++;
    /* An event is a word, or several, up to a colon before a blank or the end. */
    for (size_t end = at; end < size && end - at < LONGEST_EVENT; end++) {
        if (!text[end]) /* names contain no NUL */
            break;
        if (text[end] != ':' || (end + 1 < size && !is_blank(text[end + 1])))
            continue;
        if (end == at || is_digit(text[at])) /* a malformed time */
            break;
        if (cpu_digits(word).size || ends_in_time(text + at, end + 1 - at))
            break; /* the number before was no period */
        if (is_frame_field(text, after, end + 1))
            break;
        h->has_event = 1;
        h->event = str(text + at, end - at);
        h->is_record =
            h->event.size > sizeof record && !memcmp(h->event.data, record, sizeof record - 1);
        at = end + 1;
        break;
    }
    while (at < size && is_blank(text[at]))
        at++;
    while (size > at && is_blank(text[size - 1]))
        size--;
    if (h->has_period && !h->has_event && /* it was an address, or a wider number */
        ((is_padded && columns > PERIOD_COLUMNS) ||
         (!is_period && at < size && !is_aligned_address(text + after, size - after)))) {
        h->has_period = h->beyond_period = 0;
        for (at = start; is_blank(text[at]);)
            at++;
    }
    h->tail = str(text + at, size - at);
    while (h->indent < at && is_blank(text[at - h->indent - 1]))
        h->indent++;
}

static pcol_str trim(const uint8_t *text, size_t size)
{
    if (!size)
        return str((const uint8_t *)"", 0);
    while (size && is_blank(text[size - 1]))
        size--;
    while (size && is_blank(*text))
        text++, size--;
    return str(text, size);
}

/* Do the fields after comm and thread, [text, at), form a header? `begun`: there is a thread, or a
 * period follows. */
static int complete(const uint8_t *text, size_t size, size_t at, int begun,
                    struct pci_perf_header *h)
{
    size_t after = fields(text, size, at, h);
    if (!h->has_time && !(begun && at < size) && !h->has_cpu)
        return 0;
    rest(text, size, after, h);
    return h->has_time || h->is_record || h->has_event;
}

/* Whether a word ends like a time, in a digit and a colon. */
static int may_have_time(const uint8_t *text, size_t size)
{
    const uint8_t *end = text + size, *colon = size ? memchr(text, ':', size) : NULL;
    for (; colon;
         colon = colon + 1 < end ? memchr(colon + 1, ':', (size_t)(end - colon) - 1) : NULL)
        if (colon > text && is_digit(colon[-1]) && (colon + 1 == end || is_blank(colon[1])))
            return 1;
    return 0;
}

/* How sure the reading of a header is. A comm may end in a number or in what looks like a time. */
enum { EVENT, ALIGNED_EVENT, TIME, CPU_AND_EVENT, TIME_AND_EVENT };

static int has_blank(pcol_str text)
{
    return text.size && (memchr(text.data, ' ', text.size) || memchr(text.data, '\t', text.size));
}

static int rank(const struct pci_perf_header *h, int unaligned)
{
    if (h->has_time && !h->is_exact && !h->has_tid)
        return EVENT; /* perf prints 6 or 9 digits */
    if (h->has_time)
        return h->has_event || h->is_record ? TIME_AND_EVENT : TIME;
    if (has_blank(h->event)) /* a number of the comm, with the thread in the event */
        return EVENT;
    /* Of two numbers before an event, the second is a period if both are aligned. */
    if (h->has_period && !unaligned && !(h->has_tid && h->has_cpu) &&
        (!h->is_aligned || (h->has_tid && !h->is_thread_aligned)))
        return EVENT;
    return h->has_tid && (h->has_cpu || h->has_pid) ? CPU_AND_EVENT : ALIGNED_EVENT;
}

/* The better of two readings. */
static void choose(const struct pci_perf_header *h, const uint8_t *text, size_t comm, int unaligned,
                   int *best, struct pci_perf_header *header)
{
    int sure = rank(h, unaligned);
    if (sure <= *best)
        return;
    *best = sure;
    *header = *h;
    header->comm = trim(text, comm);
}

/* The end of a comm before the letters of misc, if a period that ends at `end` is in the columns
 * after them. */
static size_t before_misc(const uint8_t *text, size_t comm, size_t end, struct pci_perf_header *h)
{
    size_t before;
    pcol_str word = last_word(text, comm, &before);
    size_t columns = end - (size_t)((const uint8_t *)word.data - text);
    return before && columns + 1 >= MISC_COLUMNS + PERIOD_COLUMNS && is_misc(word, h) ? before
                                                                                      : comm;
}

int pci_perf_header(const uint8_t *text, size_t size, int unaligned, struct pci_perf_header *header)
{
    struct words w = {text, size, 0};
    int best = -1, highest = may_have_time(text, size) ? TIME_AND_EVENT : CPU_AND_EVENT;
    while (best < highest) {
        struct pci_perf_header h = {.comm = {"", 0}}, other = h;
        size_t comm = w.at; /* its end; the number of blanks after it is alignment */
        pcol_str word = next_word(&w);
        size_t start = (size_t)((const uint8_t *)word.data - text), end = w.at;
        if (!word.size || comm > LONGEST_COMM)
            break;
        /* Of a number alone, its columns tell whether it is a period. */
        if (is_number(word) && is_aligned(comm, end, PERIOD_COLUMNS) &&
            complete(text, size, comm, 1, &other) && !other.has_time && other.has_event)
            choose(&other, text, before_misc(text, comm, end, &other), unaligned, &best, header);
        int thread = is_thread(word, &h);
        if (!thread && (is_cpu(word, &h) || is_time(word, &h)))
            w.at = start; /* no thread */
        else if (!thread)
            continue;
        h.has_cpu = h.has_time = h.beyond_cpu = h.beyond_time = 0;
        h.is_thread_aligned = h.has_pid || is_aligned(comm, end, THREAD_COLUMNS);
        if (complete(text, size, w.at, thread, &h))
            choose(&h, text, start, unaligned, &best, header);
        w.at = end;
    }
    return best >= 0;
}

int pci_perf_has_one_number(const struct pci_perf_header *header)
{
    size_t end = header->comm.size, at = end;
    while (at && !is_blank((uint8_t)header->comm.data[at - 1]))
        at--;
    pcol_str last = {header->comm.data + at, end - at};
    struct pci_perf_header unused;
    return header->has_event && header->has_tid != header->has_period && !header->has_time &&
           !header->has_cpu && end && !is_thread(last, &unused) && !is_cpu(last, &unused);
}

void pci_perf_copy_header(const struct pci_perf_header *from, const char *from_text,
                          const char *to_text, struct pci_perf_header *to)
{
    *to = *from;
    pcol_str *parts[] = {&to->comm, &to->event, &to->tail, &to->misc, &to->pid, &to->tid};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i]->size)
            parts[i]->data = to_text + (parts[i]->data - from_text);
}

static size_t end_of(const uint8_t *text, pcol_str word)
{
    return (size_t)((const uint8_t *)word.data - text) + word.size;
}

/* The columns of a number in hexadecimal, the word that ends at `end`, after text up to `from`;
 * 0: it is none. An address after the object of a data address needs no alignment. */
static size_t number_columns(const uint8_t *text, size_t from, size_t end)
{
    size_t at = end;
    while (at > from && hex_digit(text[at - 1]) >= 0)
        at--;
    if (at == end || (at && !is_blank(text[at - 1])))
        return 0;
    if (from && text[from - 1] == ')' && end - at >= ADDRESS_DIGITS)
        return ADDRESS_COLUMNS;
    return end - from + (from == 0);
}

/* The end of a header without an event before a data source, weights and addresses at its end,
 * which have 16 columns. */
static size_t end_before_wide_fields(const uint8_t *text, size_t size)
{
    static const char source[] = " |OP ";
    size_t end = size, before;
    for (size_t at = 0; at + sizeof source <= size && end == size; at++)
        if (!memcmp(text + at, source, sizeof source - 1))
            end = at;
    for (;; end = before) {
        pcol_str word = last_word(text, end, &before);
        size_t columns = before ? number_columns(text, before, end_of(text, word)) : 0;
        if (columns < FIELD_COLUMNS || (is_number(word) && columns == word.size + 1))
            return end;
    }
}

/* Is the word whose columns begin at `before` a thread? A narrower number ends the comm. */
static int is_last_thread(const uint8_t *text, size_t before, pcol_str word,
                          struct pci_perf_header *header)
{
    return (is_aligned(before, end_of(text, word), THREAD_COLUMNS) || !before) &&
           is_thread(word, header);
}

/* Are the letters of misc that end at `end` after a thread or a cpu, and no part of the comm? */
static int is_misc_field(const uint8_t *text, size_t end)
{
    struct pci_perf_header unused;
    size_t before;
    pcol_str word = last_word(text, end, &before);
    return cpu_digits(word).size >= CPU_DIGITS || is_last_thread(text, before, word, &unused);
}

void pci_perf_comm(const uint8_t *text, size_t size, struct pci_perf_header *header)
{
    size_t end = size, before;
    memset(header, 0, sizeof *header);
    if (!size) /* frames without a header, of no text */
        text = (const uint8_t *)"";
    header->event = header->misc = str(text, 0);
    end = end_before_wide_fields(text, size);
    header->tail = trim(text + end, size - end);
    pcol_str word = last_word(text, end, &before);
    if (word.size > 1 && word.data[word.size - 1] == ':') {
        header->has_event = 1;
        header->event = (pcol_str){word.data, word.size - 1};
        header->comm = trim(text, before);
        return;
    }
    if (is_number(word) && is_aligned(before, end_of(text, word), PERIOD_COLUMNS)) {
        header->has_period = 1;
        header->beyond_period = !to_number(word, &header->period);
        word = last_word(text, end = before, &before);
    }
    if (before && is_misc_field(text, before) && is_misc(word, header))
        word = last_word(text, end = before, &before);
    if (cpu_digits(word).size >= CPU_DIGITS && is_cpu(word, header))
        word = last_word(text, end = before, &before);
    if (is_last_thread(text, before, word, header))
        end = before;
    header->comm = trim(text, end);
}

/* ---- frames ---- */

static size_t hex(const uint8_t *text, size_t size, uint64_t *value)
{
    size_t at = 0;
    *value = 0;
    for (; at < size && hex_digit(text[at]) >= 0; at++) {
        if (at >= 16) {
            *value = 0;
            return 0;
        }
        *value = *value << 4 | (unsigned)hex_digit(text[at]);
    }
    return at;
}

/* Find "+0x1c" at the end of [text, size): its offset, or size. */
static size_t offset_at(const uint8_t *text, size_t size, uint64_t *offset,
                        struct pci_perf_frame *frame)
{
    size_t at = size;
    while (at && hex_digit(text[at - 1]) >= 0)
        at--;
    if (at == size || at < 3 || memcmp(text + at - 3, "+0x", 3) != 0)
        return size;
    frame->beyond |= size - at > 16;
    return hex(text + at, size - at, offset) ? at - 3 : size;
}

/* Find the final "(object)": its offset, or size if absent. */
static size_t object_at(const uint8_t *text, size_t size)
{
    size_t depth = 0;
    if (!size || text[size - 1] != ')')
        return size;
    for (size_t at = size; at; at--) {
        if (text[at - 1] == ')')
            depth++;
        else if (text[at - 1] == '(' && --depth == 0)
            return at == 1 || is_blank(text[at - 2]) ? at - 1 : size;
    }
    return size;
}

int pci_perf_is_beyond(const uint8_t *text, size_t size)
{
    size_t digits = 0;
    while (digits < size && hex_digit(text[digits]) >= 0)
        digits++;
    size_t at = digits;
    while (at < size && is_blank(text[at]))
        at++;
    return digits > 16 && at > digits && at < size && text[at] != '(';
}

static int is_unknown(const uint8_t *text, size_t size)
{
    return size == 9 && !memcmp(text, "[unknown]", 9);
}

static void set_object(const uint8_t *text, size_t size, struct pci_perf_frame *frame)
{
    if (size == 7 && !memcmp(text, "inlined", 7)) {
        frame->inlined = 1;
        return;
    }
    frame->in_object = 1;
    if (is_unknown(text, size))
        return;
    size_t end = offset_at(text, size, &frame->object_offset, frame);
    frame->has_object_offset = end < size;
    frame->has_object = 1;
    frame->object = str(text, end);
}

int pci_perf_frame(const uint8_t *text, size_t size, int addressed, struct pci_perf_frame *frame)
{
    size_t at = 0, width = 0;
    memset(frame, 0, sizeof *frame);
    while (size && is_blank(text[size - 1]))
        size--;
    for (; at < size && is_blank(text[at]); at++)
        width += text[at] == ' ';
    if (at == size)
        return 0;
    size_t digits = hex(text + at, size - at, &frame->address);
    size_t end = at + digits;
    if (digits && (end == size || is_blank(text[end])) &&
        (addressed || digits >= ADDRESS_DIGITS || width + digits >= 16)) {
        frame->has_address = 1;
        at = end;
        while (at < size && is_blank(text[at]))
            at++;
    }
    text += at;
    size -= at;
    frame->beyond = !digits && pci_perf_is_beyond(text, size);
    size_t object = object_at(text, size);
    if (object < size)
        set_object(text + object + 1, size - object - 2, frame);
    while (object && is_blank(text[object - 1]))
        object--;
    end = offset_at(text, object, &frame->offset, frame);
    frame->has_offset = end < object;
    frame->in_symbol = end > 0;
    if (end && !is_unknown(text, end)) {
        frame->has_symbol = 1;
        frame->symbol = str(text, end);
    }
    return 1;
}

/* The end of the text before such fields. */
static size_t end_before_fields(const uint8_t *text, size_t size)
{
    struct words w = {text, size, 0};
    size_t end = 0;
    for (pcol_str word; (word = next_word(&w)).size; end = w.at)
        if (end && begins_fields(word))
            return end;
    return size;
}

/* Find the end of the frame at the beginning of the text: fields after it follow its object, or
 * begin with a name. */
static size_t frame_end(const uint8_t *text, size_t all)
{
    size_t size = end_before_fields(text, all), depth = 0, end = size;
    int is_object = 0;
    for (size_t at = 0; at < size; at++) {
        if (text[at] == '(' && !depth++)
            is_object = at && is_blank(text[at - 1]);
        if (text[at] != ')' || !depth || --depth || !is_object ||
            (at + 1 < size && !is_blank(text[at + 1])))
            continue;
        end = at + 1;
        while (at + 1 < size && is_blank(text[at + 1]))
            at++;
        if (size - at > 3 && !memcmp(text + at + 1, "=>", 2) && is_blank(text[at + 3]))
            return end; /* the target may end in an object's parenthesis */
    }
    return size && text[size - 1] == ')' ? size : end;
}

/* "4K", as perf prints sizes of pages, or "N/A" */
static int is_page_size(pcol_str word)
{
    pcol_str digits = {word.data, word.size ? word.size - 1 : 0};
    return pci_str_is(word, "N/A") ||
           (is_number(digits) && memchr("KMGTP", word.data[digits.size], 5) != NULL);
}

/* Fields before and after the frame in a header's own line. */
struct around {
    size_t start; /* of the frame after fields: the last number before a text; 0: no fields */
    size_t end;   /* of the frame: before the target of a branch, or numbers and sizes at the end */
};

static struct around find_fields(const uint8_t *text, size_t size)
{
    struct words w = {text, size, 0};
    struct around found = {0, size};
    size_t from = 0, possible = 0, arrow = 0, trailing = 0;
    for (pcol_str word; (word = next_word(&w)).size; from = w.at) {
        size_t columns = from ? number_columns(text, from, w.at) : 0;
        int number = columns >= FIELD_COLUMNS;
        if (number && arrow) {
            found.end = arrow;
            return found;
        }
        int field = number || (from && is_page_size(word));
        if (possible && !field)
            found.start = possible;
        possible = columns >= ADDRESS_COLUMNS ? from : field ? possible : 0;
        trailing = !field ? 0 : trailing ? trailing : from;
        arrow = pci_str_is(word, "=>") ? from : 0;
    }
    if (trailing)
        found.end = trailing;
    return found;
}

/* Whether `f`, read from `text`, is a frame: with an object, or aligned with a symbol, which no
 * data source is ("|OP LOAD|..."). */
static int is_tail_frame(const uint8_t *text, size_t size, const struct pci_perf_frame *f)
{
    return f->has_address && (f->in_object || f->has_offset ||
                              (f->in_symbol && is_aligned_address(text, size) &&
                               !(f->has_symbol && f->symbol.data[0] == '|')));
}

int pci_perf_tail_frame(const struct pci_perf_header *header, int addressed,
                        struct pci_perf_tail *tail)
{
    struct pci_perf_frame *f = &tail->frame;
    *tail = (struct pci_perf_tail){.before = {"", 0}, .after = {"", 0}};
    if (!header->tail.size)
        return 0;
    const uint8_t *text = (const uint8_t *)header->tail.data - header->indent;
    size_t size = header->indent + header->tail.size;
    struct around fields = find_fields(text, size);
    size_t start = fields.start, end = start + frame_end(text + start, fields.end - start);
    if (start && (!pci_perf_frame(text + start, end - start, 1, f) ||
                  !is_tail_frame(text + start, end - start, f))) {
        start = 0;
        end = frame_end(text, fields.end);
    }
    if (!pci_perf_frame(text + start, end - start, addressed || start, f) ||
        !is_tail_frame(text + start, end - start, f) ||
        (!start && !f->in_object && !is_aligned_address(text, end)))
        return 0;
    tail->before = trim(text, start);
    tail->after = trim(text + end, size - end);
    return 1;
}

int pci_perf_tail_address(const struct pci_perf_header *header, struct pci_perf_frame *frame)
{
    if (!header->tail.size)
        return 0;
    const uint8_t *text = (const uint8_t *)header->tail.data - header->indent;
    size_t size = header->indent + header->tail.size;
    return is_aligned_address(text, size) && pci_perf_frame(text, size, 1, frame) &&
           frame->has_address && !frame->in_symbol && !frame->in_object;
}

int pci_perf_bare_record(const uint8_t *text, size_t size)
{
    static const char name[] = "PERF_RECORD_";
    return size >= sizeof name && !memcmp(text, name, sizeof name - 1) && !memchr(text, ' ', size);
}

enum pci_perf_fields pci_perf_fields_line(const uint8_t *text, size_t size)
{
    struct words w = {text, size, 0};
    pcol_str word = next_word(&w);
    if (!word.size || text[0] != ' ') /* a comm begins the line of a call chain */
        return PCI_PERF_NO_FIELDS;
    if (begins_fields(word))
        return PCI_PERF_NAMED_FIELDS;
    for (size_t from = 0; word.size; word = next_word(&w)) {
        if (!is_page_size(word) && number_columns(text, from, w.at) < FIELD_COLUMNS)
            return PCI_PERF_NO_FIELDS;
        from = w.at;
    }
    return PCI_PERF_NUMBERS;
}

/* The end of a source line before the fields that follow it in the line of a sample without call
 * chain. */
static size_t source_end(const uint8_t *text, size_t size)
{
    size_t end = end_before_fields(text, size), trailing = end, before;
    while (end) {
        pcol_str word = last_word(text, end, &before);
        if (!before || (!is_page_size(word) &&
                        number_columns(text, before, end_of(text, word)) < FIELD_COLUMNS))
            return trailing;
        trailing = end = before;
    }
    return trailing;
}

int pci_perf_source_line(const uint8_t *text, size_t size, struct pci_perf_source *source)
{
    static const char inlined[] = " (inlined)";
    pcol_str *file = &source->file;
    int64_t *line = &source->line;
    uint64_t address;
    size_t all = size;
    if (is_aligned_address(text, size)) /* most lines are frames */
        return 0;
    size = source_end(text, size);
    source->fields = trim(text + size, all - size);
    while (size && is_blank(text[size - 1]))
        size--;
    source->inlined = size > sizeof inlined &&
                      !memcmp(text + size - (sizeof inlined - 1), inlined, sizeof inlined - 1);
    size -= source->inlined ? sizeof inlined - 1 : 0;
    size_t at = size;
    if (!size || !is_blank(*text))
        return 0;
    *file = str(text, 0);
    *line = 0;
    if (text[size - 1] == ']') { /* "  libc.so.6[1750a5]": not known */
        while (at && text[at - 1] != '[')
            at--;
        return at > 1 && at < size - 1 && hex(text + at, size - 1 - at, &address) == size - 1 - at;
    }
    while (at && is_digit(text[at - 1]))
        at--;
    if (at < 2 || text[at - 1] != ':' || !to_number(str(text + at, size - at), line))
        return 0;
    *file = trim(text, at - 1); /* ":0" is not known either */
    return 1;
}

int pci_perf_is_clock(pcol_str event)
{
    return event.size >= 9 && (!memcmp(event.data, "cpu-clock", 9) ||
                               (event.size >= 10 && !memcmp(event.data, "task-clock", 10)));
}
