/*
 * cpu.c - the CPU profile of gperftools, and Java's of the same shape
 *
 *     word 0   0
 *     word 1   3        words that follow in the header
 *     word 2   0        1: Java
 *     word 3   period in microseconds
 *     word 4   0
 *     then, until COUNT 0, DEPTH 1, ADDRESS 0:   COUNT DEPTH ADDRESS * DEPTH
 *     then text: the memory map, or (Java) names of the addresses
 *
 * A word has 4 or 8 bytes, of either byte order; the header says which.
 */
#include "formats/gperftools/scanner.h"

#include "util/alloc.h"

#include <inttypes.h>

#define HEADER_WORDS 5u

struct word_kind {
    unsigned size;
    int big_endian;
};
static const struct word_kind word_kinds[] = {{4, 0}, {4, 1}, {8, 0}, {8, 1}};

struct cpu {
    struct pci_gp_reader *reader;
    struct word_kind kind;
    size_t at; /* in the window */
    int java;
};

static uint64_t word_at(const uint8_t *p, struct word_kind kind)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < kind.size; i++)
        word |= (uint64_t)p[i] << 8 * (kind.big_endian ? kind.size - 1 - i : i);
    return word;
}

static const struct word_kind *find_kind(const uint8_t *data, size_t size, int *java,
                                         uint64_t *period)
{
    for (unsigned k = 0; k < sizeof word_kinds / sizeof *word_kinds; k++) {
        uint64_t words[HEADER_WORDS];
        if (size < HEADER_WORDS * word_kinds[k].size)
            continue;
        for (unsigned i = 0; i < HEADER_WORDS; i++)
            words[i] = word_at(data + i * word_kinds[k].size, word_kinds[k]);
        if (words[0] || words[1] != 3 || words[2] > 1 || !words[3] || words[4])
            continue;
        *java = words[2] == 1;
        *period = words[3];
        return &word_kinds[k];
    }
    return NULL;
}

int pci_gp_is_cpu(const uint8_t *data, size_t size)
{
    int java;
    uint64_t period;
    return find_kind(data, size, &java, &period) != NULL;
}

/* The next word; *got is 0 if the input ends before it is whole. */
static pcol_status next_word(struct cpu *c, uint64_t *word, int *got, pcol_error *err)
{
    struct pci_input *input = c->reader->import->input;
    while (input->size - c->at < c->kind.size && !input->end) {
        PCI_TRY(pci_input_more(input, c->at, err));
        c->at = 0;
    }
    *got = input->size - c->at >= c->kind.size;
    if (*got)
        *word = word_at(input->data + c->at, c->kind);
    c->at += *got ? c->kind.size : 0;
    return PCOL_OK;
}

static uint64_t place(const struct cpu *c)
{
    return c->reader->import->input->offset + c->at;
}

/* The input ends inside the sample that began at `start`. */
static pcol_status cut(struct cpu *c, uint64_t start, size_t stack, pcol_error *err)
{
    if (!c->reader->import->options->lenient)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, start, "the input ends inside this sample");
    c->reader->profile.stack_count = stack;
    c->at = c->reader->import->input->size;
    pci_import_message(c->reader->import, "the last sample is cut and was left out");
    return PCOL_OK;
}

/* One record; *last at the end mark or the end of the input. */
static pcol_status take_record(struct cpu *c, int *last, pcol_error *err)
{
    struct pci_gp_profile *p = &c->reader->profile;
    const struct pci_input *input = c->reader->import->input;
    uint64_t start = place(c), count, depth = 0, address = 0;
    size_t before = p->stack_count;
    int got;
    PCI_TRY(next_word(c, &count, &got, err));
    *last = !got;
    if (*last && c->at == input->size) {
        pci_import_message(c->reader->import, "no end mark behind the last sample: the profile "
                                              "may have been cut");
        return PCOL_OK;
    }
    if (got)
        PCI_TRY(next_word(c, &depth, &got, err));
    for (uint64_t i = 0; got && i < depth; i++) {
        PCI_TRY(next_word(c, &address, &got, err));
        if (got && count == 0 && depth == 1 && address == 0) {
            *last = 1;
            return PCOL_OK;
        }
        /* An address on the stack is where the call returns to; one less lies in the call. */
        if (got)
            PCI_TRY(pci_gp_push(p, address - (i > 0 && !c->java), err));
    }
    if (!got) {
        *last = 1;
        return cut(c, start, before, err);
    }
    const int64_t values[] = {(int64_t)count, (int64_t)(count * (uint64_t)p->period)};
    return pci_gp_sample(p, values, err);
}

/* The address that is second on all stacks but one of 32, PCI_HASH_NONE if there is none. */
static pcol_status find_handler(const struct pci_gp_profile *p, uint32_t *handler, pcol_error *err)
{
    uint32_t *counts = pci_calloc(p->location_count + 1, sizeof *counts);
    size_t enough = p->sample_count - p->sample_count / 32;
    if (!counts)
        return pci_fail_memory(err);
    *handler = PCI_HASH_NONE;
    for (size_t s = 0; s < p->sample_count && *handler == PCI_HASH_NONE; s++) {
        const struct pci_gp_sample *sample = &p->samples[s];
        if (sample->end - sample->first < 2)
            continue;
        uint32_t second = p->stack[sample->first + 1];
        if (++counts[second] >= enough)
            *handler = second;
    }
    pci_free(counts);
    return PCOL_OK;
}

/* A frame that nearly all stacks have behind the innermost is the profiler's own signal handler; up
 * to two are taken out. */
static pcol_status drop_handlers(struct pci_gp_profile *p, pcol_error *err)
{
    for (int round = 0; round < 2; round++) {
        uint32_t handler;
        PCI_TRY(find_handler(p, &handler, err));
        for (size_t s = 0; handler != PCI_HASH_NONE && s < p->sample_count; s++) {
            struct pci_gp_sample *sample = &p->samples[s];
            uint32_t *stack = p->stack + sample->first;
            if (sample->end - sample->first > 1 && stack[1] == handler) {
                stack[1] = stack[0];
                sample->first++;
            }
        }
    }
    return PCOL_OK;
}

pcol_status pci_gp_read_cpu(struct pci_gp_reader *r, pcol_error *err)
{
    struct pci_gp_profile *p = &r->profile;
    struct pci_input *input = r->import->input;
    struct cpu c = {.reader = r};
    uint64_t period;
    const struct word_kind *kind = find_kind(input->data, input->size, &c.java, &period);
    if (!kind)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, 0, "not the header of a CPU profile");
    c.kind = *kind;
    c.at = HEADER_WORDS * kind->size;
    p->types[0] = (struct pci_gp_type){"samples", "count"};
    p->types[1] = p->period_type = (struct pci_gp_type){"cpu", "nanoseconds"};
    p->type_count = 2;
    p->period = (int64_t)(period * 1000);
    for (int last = 0; !last;)
        PCI_TRY(take_record(&c, &last, err));
    r->lines = (struct pci_lines){.input = input, .consumed = c.at};
    if (c.java) {
        PCI_TRY(pci_gp_next(r, err));
        return pci_gp_read_java_names(r, err);
    }
    PCI_TRY(drop_handlers(p, err));
    PCI_TRY(pci_gp_read_map_here(r, err));
    pci_gp_drop_double_leaves(p);
    return PCOL_OK;
}
