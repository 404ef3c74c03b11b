/*
 * cpu.c - CPU profiles of gperftools, and of Java in the same layout
 *
 *     word 0   0
 *     word 1   3        number of following header words
 *     word 2   0        1: Java
 *     word 3   period in microseconds
 *     word 4   0
 *     then, until COUNT 0, DEPTH 1, ADDRESS 0:   COUNT DEPTH ADDRESS * DEPTH
 *     then text: the memory map, or (Java) names of the addresses
 *
 * A word has 4 or 8 bytes, in either byte order; the header determines both.
 */
#include "formats/gperftools/scanner.h"

#include "util/alloc.h"

#define HEADER_WORDS 5u

struct word_kind {
    unsigned size;
    int big_endian;
};
static const struct word_kind word_kinds[] = {{4, 0}, {4, 1}, {8, 0}, {8, 1}};

struct cpu {
    struct pci_gp_reader *reader;
    struct word_kind kind;
    size_t at; /* offset in the window */
    int java;
};

static uint64_t load_word(const uint8_t *p, struct word_kind kind)
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
            words[i] = load_word(data + i * word_kinds[k].size, word_kinds[k]);
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

/* Read a word; *found is 0 if the input ends before its end. */
static pcol_status read_word(struct cpu *c, uint64_t *word, int *found, pcol_error *err)
{
    struct pci_input *input = c->reader->import->input;
    while (input->size - c->at < c->kind.size && !input->end) {
        PCI_TRY(pci_input_more(input, c->at, err));
        c->at = 0;
    }
    *found = input->size - c->at >= c->kind.size;
    if (*found)
        *word = load_word(input->data + c->at, c->kind);
    c->at += *found ? c->kind.size : 0;
    return PCOL_OK;
}

static uint64_t input_offset(const struct cpu *c)
{
    return c->reader->import->input->offset + c->at;
}

/* Handle an input that ends inside the sample at offset `start`: a lenient import omits the
 * sample. */
static pcol_status handle_truncation(struct cpu *c, uint64_t start, size_t stack, pcol_error *err)
{
    if (!c->reader->import->options->lenient)
        return pci_error_option(
            err, "lenient",
            pci_fail_at_byte(err, PCOL_E_SYNTAX, start, "the input ends inside this sample"));
    c->reader->profile.stack_count = stack;
    c->at = c->reader->import->input->size;
    pci_import_message("the last sample is truncated and was omitted");
    return PCOL_OK;
}

/* Read a record; *last is set at the end mark or the end of the input. */
static pcol_status read_record(struct cpu *c, int *last, pcol_error *err)
{
    struct pci_gp_profile *p = &c->reader->profile;
    const struct pci_input *input = c->reader->import->input;
    uint64_t start = input_offset(c), count, depth = 0, address = 0;
    size_t old_stack_count = p->stack_count;
    int found;
    PCI_TRY(read_word(c, &count, &found, err));
    *last = !found;
    if (*last && c->at == input->size) {
        pci_import_message("no end mark after the last sample: the profile "
                           "may be truncated");
        return PCOL_OK;
    }
    if (found)
        PCI_TRY(read_word(c, &depth, &found, err));
    for (uint64_t i = 0; found && i < depth; i++) {
        PCI_TRY(read_word(c, &address, &found, err));
        if (found && count == 0 && depth == 1 && address == 0) {
            *last = 1;
            return PCOL_OK;
        }
        /* A return address; minus one is an address of the call instruction. */
        if (found)
            PCI_TRY(pci_gp_push(p, address - (i > 0 && !c->java), err));
    }
    if (!found) {
        *last = 1;
        return handle_truncation(c, start, old_stack_count, err);
    }
    int64_t values[] = {(int64_t)count, 0};
    if (count > INT64_MAX || __builtin_mul_overflow(values[0], p->period, &values[1]))
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, start,
                                "the time of the sample exceeds 64 bits");
    return pci_gp_sample(p, values, err);
}

/* Find the address that is second on at least 31/32 of all stacks, else PCI_HASH_NONE. */
static pcol_status find_handler(const struct pci_gp_profile *p, uint32_t *handler, pcol_error *err)
{
    uint32_t *counts;
    size_t enough = p->sample_count - p->sample_count / 32;
    PCI_TRY(PCI_CALLOC(counts, p->location_count + 1, err));
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

/* Remove up to two frames of the profiler's signal handler, which nearly all stacks contain after
 * the innermost frame. */
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
    if (period > INT64_MAX / 1000)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, (uint64_t)3 * kind->size,
                                "the period exceeds 64 bits of nanoseconds");
    p->period = (int64_t)(period * 1000);
    for (int last = 0; !last;)
        PCI_TRY(read_record(&c, &last, err));
    r->lines = (struct pci_lines){.input = input, .consumed = c.at};
    if (c.java) {
        PCI_TRY(pci_gp_next(r, err));
        return pci_gp_read_java_names(r, err);
    }
    PCI_TRY(drop_handlers(p, err));
    PCI_TRY(pci_gp_read_map_lines(r, err));
    pci_gp_drop_double_leaves(p);
    return PCOL_OK;
}
