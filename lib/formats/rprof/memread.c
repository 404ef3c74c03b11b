/*
 * memread.c - import of Rprofmem() logs
 *
 *     entry := (INT " :" | "new page:") ('"' NAME '" ')* EOL
 *
 * R up to 3.4 omitted the line end of an entry without frames, so the next entry is on the same
 * line. Such an entry stores its text ("200 :"); the exporter concatenates the texts.
 * Tests: tests/unit/test_rprof.c.
 */
#include "formats/rprof/builder_sink.h"
#include "formats/rprof/rprof.h"
#include "formats/rprof/sample_pipeline.h"
#include "formats/rprof/text.h"

#include <string.h>

#define NO_ENTRY "neither a size in bytes nor 'new page:'"

enum entry_kind { NOT_AN_ENTRY, ALLOCATION, NEW_PAGE };

enum { T_SIZE, T_PAGE };

struct reader {
    struct pci_import *import;
    struct pci_rprof_text text;
    struct pci_rprof_record record;
    struct pci_rprof_pipeline queue;
    int has_source;
    int is_truncated; /* the last line ends within a head or a name */
    int has_frames;   /* the last entry; of R up to 3.4 others have no line end */
    struct pci_tolerated tolerated;
};

struct entry {
    struct pci_rprof_units units; /* frames */
    uint64_t start;               /* offset of the entry, which may not be the first of its line */
    uint64_t next;                /* offset of the end of the entry */
    enum entry_kind kind;
    struct pci_rprof_int size;
    int exact;
    int empty; /* the stack is empty; `units` is unused */
};

/* Parse the head of an entry at *head, which is advanced to its end. */
static enum entry_kind read_entry_head(const uint8_t **head, const uint8_t *end,
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
        return NOT_AN_ENTRY;
    *head = p + 2;
    return ALLOCATION;
}

/* 1 if [p, end) is a prefix of the head of an entry. */
static int is_head_prefix(const uint8_t *p, const uint8_t *end)
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
    const uint8_t *end = pci_rprof_first_line_end(data, size, all);
    if (!end || read_entry_head(&data, end, &number) == NOT_AN_ENTRY)
        return 0;
    return data == end || *data == '"' || read_entry_head(&data, end, &number) != NOT_AN_ENTRY ? 2
                                                                                               : 0;
}

static int is_own_line(const void *context, const uint8_t *p, const uint8_t *end)
{
    struct pci_rprof_int size;
    (void)context;
    return read_entry_head(&p, end, &size) != NOT_AN_ENTRY;
}

/* Report a fault at a byte of the line. Lenient: it is counted, and the text is stored. */
static pcol_status report_fault(struct reader *r, const uint8_t *at, const char *what,
                                pcol_error *err)
{
    uint64_t column = (uint64_t)(at - pci_rprof_at(&r->text.lines, r->text.lines.at)) + 1;
    return pci_import_tolerate(r->import, &r->tolerated, r->text.lines.number, column, what, err);
}

static pcol_status read_frames(struct reader *r, struct entry *e, pcol_error *err)
{
    struct pci_rprof_units *u = &e->units;
    PCI_TRY(pci_rprof_text_units(&r->text, PCI_RPROF_NO_REFS, is_own_line, r, u, err));
    if (u->start == u->line.end)
        u->has_stack = 1; /* no frames: the empty stack */
    e->exact = e->exact && u->exact && u->fault.kind == PCI_RPROF_NO_FAULT;
    e->next = u->line.next;
    return PCOL_OK;
}

static pcol_status add_entry(struct reader *r, const struct entry *e, pcol_error *err)
{
    int64_t values[PCI_RPROF_TYPES] = {[T_SIZE] = e->size.value, [T_PAGE] = 1};
    unsigned present = e->kind == NEW_PAGE                      ? 1u << T_PAGE
                       : e->kind == ALLOCATION && e->size.known ? 1u << T_SIZE
                                                                : 0;
    PCI_TRY(pci_rprof_pipeline_sample(&r->queue, e->empty ? NULL : &r->text.frames,
                                      e->units.has_stack, present, values, err));
    if (e->exact)
        return PCOL_OK;
    return pci_rprof_record_text(&r->record, pci_rprof_at(&r->text.lines, e->start),
                                 (size_t)(e->next - e->start), err);
}

/* Read the entry at `start`. *line: extended by lines that continue its names. */
static pcol_status read_entry(struct reader *r, struct pci_rprof_line *line, uint64_t start,
                              uint64_t *next, pcol_error *err)
{
    const uint8_t *begin_source = pci_rprof_at(&r->text.lines, start), *p = begin_source, *q;
    const uint8_t *end = pci_rprof_at(&r->text.lines, line->end);
    struct entry e = {.units = {.line = *line, .has_stack = 0}, .start = start, .next = line->next};
    struct pci_rprof_units *u = &e.units;
    struct pci_rprof_int other;
    e.kind = read_entry_head(&p, end, &e.size);
    u->start = start + (uint64_t)(p - begin_source);
    e.exact = e.kind == NEW_PAGE || (e.kind == ALLOCATION && e.size.canonical);
    q = p;
    if (e.kind == ALLOCATION && !e.size.known)
        PCI_TRY(report_fault(r, begin_source, PCI_RPROF_OVERFLOW, err));
    if (e.kind == NOT_AN_ENTRY) {
        r->text.frames.previous_size = 0;
        r->is_truncated = line->eol == PCI_RPROF_NO_EOL && is_head_prefix(p, end);
        if (!r->is_truncated)
            PCI_TRY(report_fault(r, p, NO_ENTRY, err));
    } else if (p < end && *p != '"' &&
               (read_entry_head(&q, end, &other) != NOT_AN_ENTRY ||
                (line->eol == PCI_RPROF_NO_EOL && is_head_prefix(p, end)))) {
        r->text.frames.previous_size = 0;
        u->has_stack = 1;
        e.empty = 1;
        e.exact = 0;
        e.next = u->start;
    } else {
        PCI_TRY(read_frames(r, &e, err));
        if (u->fault.kind == PCI_RPROF_GARBAGE)
            PCI_TRY(report_fault(r, u->fault.at, "not a quoted frame", err));
        r->is_truncated = u->fault.kind == PCI_RPROF_OPEN && u->line.is_last;
        if (u->fault.kind == PCI_RPROF_OPEN && !r->is_truncated)
            PCI_TRY(report_fault(r, u->fault.at, "unterminated frame name", err));
        r->text.previous_end = u->line.end;
        r->text.lines.keep = r->text.frames.previous_size ? u->start : u->line.start;
    }
    r->has_frames = u->start < u->line.end;
    *line = u->line;
    *next = e.next;
    return add_entry(r, &e, err);
}

static pcol_status begin_source(struct reader *r, const struct pci_rprof_line *line,
                                pcol_error *err)
{
    pcol_builder *b = r->import->builder;
    pcol_source source = PCOL_INIT(pcol_source);
    struct pci_rprof_int size;
    r->has_source = 1;
    if (line) {
        const uint8_t *p = pci_rprof_at(&r->text.lines, line->start);
        const uint8_t *end = pci_rprof_at(&r->text.lines, line->end);
        r->text.crlf = line->eol == PCI_RPROF_CRLF;
        if (read_entry_head(&p, end, &size) == NOT_AN_ENTRY)
            return pci_fail_text(err, PCOL_E_SYNTAX, 1, 1, "not an Rprofmem log: " NO_ENTRY);
    }
    PCI_TRY(pci_import_source(r->import, &source, err));
    PCI_TRY(pcol_builder_sample_type(b, "alloc_size", "bytes", 0, 0, &r->queue.types[T_SIZE], err));
    PCI_TRY(pcol_builder_sample_type(b, "new_page", "count", 0, 0, &r->queue.types[T_PAGE], err));
    /* The segment of a log only records the line end. */
    return r->text.crlf ? pci_rprof_record_segment(&r->record, NULL, 1, NULL, 0, err) : PCOL_OK;
}

static pcol_status read_lines(struct reader *r, pcol_error *err)
{
    for (;;) {
        struct pci_rprof_line line;
        int got;
        PCI_TRY(pci_rprof_peek(&r->text.lines, r->text.lines.at, &line, &got, err));
        if (!got)
            break;
        if (!r->has_source)
            PCI_TRY(begin_source(r, &line, err));
        uint64_t at = line.start;
        do
            PCI_TRY(read_entry(r, &line, at, &at, err));
        while (at < line.next);
        pci_rprof_text_pass(&r->text, &line);
    }
    return r->has_source ? PCOL_OK : begin_source(r, NULL, err);
}

pcol_status pci_rprofmem_read(struct pci_import *import, pcol_error *err)
{
    struct reader r = {.import = import, .record = {.import = import}};
    pcol_status status;
    pci_rprof_text_init(&r.text, import);
    r.queue.record = &r.record;
    status = read_lines(&r, err);
    if (status == PCOL_OK)
        pci_rprof_report_deviations(&r.tolerated, r.is_truncated,
                                    r.text.is_unended && r.has_frames);
    pci_rprof_pipeline_clear(&r.queue);
    pci_rprof_text_clear(&r.text);
    return status;
}
