/*
 * memread.c - importing Rprofmem() logs
 *
 *     entry := (INT " :" | "new page:") ('"' NAME '" ')* EOL
 *
 * R up to 3.4 forgot the line end of an entry without frames, so that the next entry follows on the
 * same line: such an entry keeps its text ("200 :"), and one text behind the other gives the log back.
 */
#include "rprof/frames.h"
#include "rprof/lines.h"
#include "rprof/record.h"

#include "core/alloc.h"

#include <inttypes.h>
#include <string.h>

#define NO_ENTRY "neither a size in bytes nor 'new page:'"

enum entry_kind { NO_ENTRY_HERE, ALLOCATION, NEW_PAGE };

struct reader {
    struct pci_import *import;
    struct pci_rprof_lines lines;
    struct pci_rprof_frames frames;
    struct pci_rprof_record record;
    struct pci_rprof_scratch scratch;
    uint32_t size_type, page_type;
    int begun, crlf;
    uint64_t before_end;
    uint64_t tolerated, first_tolerated;
};

struct entry {
    struct pci_rprof_line line;
    uint64_t start; /* of the entry: behind others on the same line, perhaps */
    uint64_t text;  /* where the frames begin */
    uint64_t next;  /* behind the entry */
    enum entry_kind kind;
    struct pci_rprof_int size;
    uint32_t node;
    int exact;
};

/* The head of an entry at p; *head is moved behind it. */
static enum entry_kind entry_head(const uint8_t **head, const uint8_t *end,
                                  struct pci_rprof_int *size)
{
    static const char page[] = "new page:";
    const uint8_t *p = *head;
    if ((size_t)(end - p) >= strlen(page) && memcmp(p, page, strlen(page)) == 0) {
        *head = p + strlen(page);
        return NEW_PAGE;
    }
    p = pci_rprof_int(p, end, 0, size);
    if (!p || end - p < 2 || p[0] != ' ' || p[1] != ':')
        return NO_ENTRY_HERE;
    *head = p + 2;
    return ALLOCATION;
}

/* Could [p, end) go on to be the head of an entry? */
static int head_begun(const uint8_t *p, const uint8_t *end)
{
    static const char page[] = "new page:";
    size_t size = (size_t)(end - p);
    struct pci_rprof_int number;
    if (size > 0 && size < strlen(page) && memcmp(p, page, size) == 0)
        return 1;
    p = pci_rprof_int(p, end, 0, &number);
    return p && (p == end || (end - p == 1 && *p == ' '));
}

int pci_rprofmem_sniff(const uint8_t *data, size_t size, int all)
{
    struct pci_rprof_int number;
    const uint8_t *end = memchr(data, '\n', size);
    if (!end && !all)
        return 0;
    end = end ? end : data + size;
    if (end > data && end[-1] == '\r')
        end--;
    if (entry_head(&data, end, &number) == NO_ENTRY_HERE)
        return 0;
    return data == end || *data == '"' || entry_head(&data, end, &number) != NO_ENTRY_HERE ? 2 : 0;
}

static int stands_alone(const void *context, const uint8_t *p, const uint8_t *end)
{
    struct pci_rprof_int size;
    (void)context;
    return entry_head(&p, end, &size) != NO_ENTRY_HERE;
}

static const uint8_t *before_end(const struct reader *r)
{
    return r->frames.before ? pci_rprof_at(&r->lines, r->before_end) : NULL;
}

static unsigned line_flags(const struct pci_rprof_line *line)
{
    return PCI_RPROF_NO_REFS | (line->eol == PCI_RPROF_CUT ? 0 : PCI_RPROF_LOOSE);
}

/* An error at a byte of the line, or one more fault that the user wants kept. */
static pcol_status complain(struct reader *r, const uint8_t *at, const char *what, pcol_error *err)
{
    uint64_t column = (uint64_t)(at - pci_rprof_at(&r->lines, r->lines.at)) + 1;
    if (!r->import->options->lenient)
        return pci_fail_text(err, PCOL_E_SYNTAX, r->lines.number, column, "%s", what);
    if (r->tolerated++ == 0)
        r->first_tolerated = r->lines.number;
    return PCOL_OK;
}

/* Find the frames, taking in further physical lines, and add them to the tree. */
static pcol_status read_frames(struct reader *r, struct entry *e, struct pci_rprof_fault *fault,
                               pcol_error *err)
{
    const uint8_t *text = pci_rprof_at(&r->lines, e->text);
    const uint8_t *end = pci_rprof_at(&r->lines, e->line.end);
    int unified = 0, exact;
    PCI_TRY(pci_rprof_frames_scan(&r->frames, text, end, before_end(r), line_flags(&e->line), fault,
                                  err));
    if (fault->kind == PCI_RPROF_OPEN || fault->kind == PCI_RPROF_NO_BLANK) {
        PCI_TRY(pci_rprof_extend(&r->lines, e->text, PCI_RPROF_NO_REFS | PCI_RPROF_LOOSE,
                                 stands_alone, r, &e->line, fault, err));
        text = pci_rprof_at(&r->lines, e->text);
        end = pci_rprof_at(&r->lines, e->line.end);
        unified = e->line.parts > 1 && r->crlf;
        if (unified) {
            PCI_TRY(pci_rprof_unify(&r->scratch, text, end, err));
            text = r->scratch.data;
            end = text + r->scratch.size;
            r->frames.before = 0;
        }
        PCI_TRY(pci_rprof_frames_scan(&r->frames, text, end, before_end(r), line_flags(&e->line),
                                      fault, err));
        if (fault->kind == PCI_RPROF_NO_BLANK)
            PCI_TRY(pci_rprof_frames_take(&r->frames, fault->at, end, err));
    }
    int whole = fault->kind == PCI_RPROF_WHOLE && !unified;
    PCI_TRY(pci_rprof_frames_add(&r->frames, text, end, whole, &e->node, &exact, err));
    if (e->text == e->line.end)
        e->node = 0; /* no frames: the empty stack */
    e->exact = e->exact && exact && fault->kind == PCI_RPROF_WHOLE && !(unified && e->line.bare) &&
               e->line.eol == (r->crlf ? PCI_RPROF_CRLF : PCI_RPROF_LF);
    e->next = e->line.next;
    return PCOL_OK;
}

static pcol_status add_entry(struct reader *r, const struct entry *e, pcol_error *err)
{
    pcol_value value = {.sample_type = r->size_type, .as = {.i64 = e->size.value}};
    size_t count = e->kind == ALLOCATION && e->size.known;
    if (e->kind == NEW_PAGE) {
        value = (pcol_value){.sample_type = r->page_type, .as = {.i64 = 1}};
        count = 1;
    }
    PCI_TRY(pci_rprof_record_sample(&r->record, e->node, &value, count, err));
    if (e->exact)
        return PCOL_OK;
    return pci_rprof_record_text(&r->record, pci_rprof_at(&r->lines, e->start),
                                 (size_t)(e->next - e->start), err);
}

/* The entry at `start` of the line; the line becomes longer if names go over several. */
static pcol_status read_entry(struct reader *r, struct pci_rprof_line *line, uint64_t start,
                              uint64_t *next, pcol_error *err)
{
    const uint8_t *begin = pci_rprof_at(&r->lines, start), *p = begin, *q;
    const uint8_t *end = pci_rprof_at(&r->lines, line->end);
    struct entry e = {.line = *line, .start = start, .next = line->next, .node = PCOL_NONE};
    struct pci_rprof_fault fault = {PCI_RPROF_WHOLE, NULL};
    struct pci_rprof_int other;
    e.kind = entry_head(&p, end, &e.size);
    e.text = start + (uint64_t)(p - begin);
    e.exact = e.kind == NEW_PAGE || (e.kind == ALLOCATION && e.size.canonical);
    q = p;
    if (e.kind == NO_ENTRY_HERE) {
        r->frames.before = 0;
        if (line->eol != PCI_RPROF_CUT || !head_begun(p, end))
            PCI_TRY(complain(r, p, NO_ENTRY, err));
    } else if (p < end && *p != '"' &&
               (entry_head(&q, end, &other) != NO_ENTRY_HERE ||
                (line->eol == PCI_RPROF_CUT && head_begun(p, end)))) {
        r->frames.before = 0;
        e.node = 0;
        e.exact = 0;
        e.next = e.text;
    } else {
        PCI_TRY(read_frames(r, &e, &fault, err));
        if (fault.kind == PCI_RPROF_GARBAGE)
            PCI_TRY(complain(r, fault.at, "not a quoted frame", err));
        else if (fault.kind == PCI_RPROF_OPEN && !e.line.last)
            PCI_TRY(complain(r, fault.at, "unterminated frame name", err));
        r->before_end = e.line.end;
        r->lines.keep = r->frames.before ? e.text : e.line.start;
    }
    *line = e.line;
    *next = e.next;
    return add_entry(r, &e, err);
}

static pcol_status begin(struct reader *r, const struct pci_rprof_line *line, pcol_error *err)
{
    pcol_builder *b = r->import->builder;
    pcol_source source = PCOL_INIT(pcol_source);
    struct pci_rprof_int size;
    r->begun = 1;
    if (line) {
        const uint8_t *p = pci_rprof_at(&r->lines, line->start);
        const uint8_t *end = pci_rprof_at(&r->lines, line->end);
        r->crlf = line->eol == PCI_RPROF_CRLF;
        if (entry_head(&p, end, &size) == NO_ENTRY_HERE)
            return pci_fail_text(err, PCOL_E_SYNTAX, 1, 1, "not an Rprofmem log: " NO_ENTRY);
    }
    PCI_TRY(pci_import_source(r->import, &source, err));
    PCI_TRY(pcol_builder_sample_type(b, "alloc_size", "bytes", 0, 0, &r->size_type, err));
    PCI_TRY(pcol_builder_sample_type(b, "new_page", "count", 0, 0, &r->page_type, err));
    /* A segment says no more of a log than how its lines end. */
    return r->crlf ? pci_rprof_record_segment(&r->record, NULL, 1, NULL, 0, err) : PCOL_OK;
}

static pcol_status read_lines(struct reader *r, pcol_error *err)
{
    for (;;) {
        struct pci_rprof_line line;
        int got;
        PCI_TRY(pci_rprof_peek(&r->lines, r->lines.at, &line, &got, err));
        if (!got)
            break;
        if (!r->begun)
            PCI_TRY(begin(r, &line, err));
        uint64_t at = line.start;
        do
            PCI_TRY(read_entry(r, &line, at, &at, err));
        while (at < line.next);
        r->lines.at = line.next;
        r->lines.number += line.parts;
        if (!r->frames.before)
            r->lines.keep = line.next;
    }
    return r->begun ? PCOL_OK : begin(r, NULL, err);
}

pcol_status pci_rprofmem_read(struct pci_import *import, pcol_error *err)
{
    struct reader r = {
        .import = import,
        .lines = {import->input, import->input->offset, import->input->offset, 1},
        .frames = {.builder = import->builder},
        .record = {.import = import},
        .before_end = import->input->offset,
    };
    pcol_status status = read_lines(&r, err);
    if (status == PCOL_OK && r.tolerated)
        pci_import_message(import,
                           "malformed lines kept as text: %" PRIu64 ", the first is line %" PRIu64,
                           r.tolerated, r.first_tolerated);
    pci_rprof_frames_clear(&r.frames);
    pci_free(r.scratch.data);
    return status;
}
