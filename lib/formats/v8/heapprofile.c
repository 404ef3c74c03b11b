/*
 * heapprofile.c - import of V8's sampling heap profiles (.heapprofile)
 *
 * {"head": nested nodes with selfSize, "samples": [{"size", "nodeId", "ordinal"}]}. Sizes of nodes
 * and of samples are different sample types, in different rows. Samples may name nodes that are not
 * in the tree: they have the empty stack.
 */
#include "formats/v8/v8.h"

struct heap_sample {
    int64_t size, node;
    int has_size, has_node;
};

struct reader {
    struct pci_v8 v8;
    int has_head, has_samples;
    struct pci_spill samples; /* size and node */
};

int pci_heapprofile_sniff(const uint8_t *data, size_t size, int all)
{
    static const char *const texts[] = {"\"head\"", "\"callFrame\"", "\"selfSize\"", NULL};
    (void)all;
    return pci_document_begins(data, size, 0, texts) ? 2 : 0;
}

static pcol_status read_sample(void *context, pcol_error *err)
{
    struct reader *r = context;
    struct pci_v8 *v8 = &r->v8;
    const struct pci_json *json = &v8->json;
    int64_t numbers[2];
    unsigned seen = 0;
    int more;
    PCI_TRY(pci_json_expect(json, PCI_JSON_OBJECT, "a sample", err));
    PCI_TRY(pci_v8_enter(v8, err));
    for (;;) {
        PCI_TRY(pci_json_member(&v8->json, &more, err));
        if (!more)
            break;
        int member = pci_json_is(json, "size") ? 0 : pci_json_is(json, "nodeId") ? 1 : 2;
        PCI_TRY(pci_v8_member(v8, err));
        if (member == 2)
            continue;
        PCI_TRY(pci_json_expect(json, PCI_JSON_INT, member ? "nodeId" : "size", err));
        if (seen & 1u << member || (!member && json->integer < 0))
            return pci_json_fail(json, err, "%s is %s", member ? "nodeId" : "size",
                                 seen & 1u << member ? "there twice" : "negative");
        seen |= 1u << member;
        numbers[member] = json->integer;
    }
    if (seen != 3)
        return pci_json_fail(json, err, "a sample needs size and nodeId");
    PCI_TRY(pci_v8_leave(v8, err));
    return pci_spill_append(&r->samples, numbers, sizeof numbers, err);
}

static pcol_status put_row(struct reader *r, uint32_t stack, const pcol_value *values, size_t count,
                           pcol_error *err)
{
    pcol_sample row = PCOL_INIT(pcol_sample);
    row.values = values;
    row.value_count = count;
    row.source = r->v8.import->source;
    row.thread = PCOL_NONE;
    row.stack = stack;
    return pcol_builder_sample(r->v8.builder, &row, NULL, err);
}

static pcol_status put_samples(struct reader *r, pcol_error *err)
{
    pcol_value values[2] = {{.as.i64 = 0}, {.as.i64 = 1}};
    PCI_TRY(pcol_builder_sample_type(r->v8.builder, "sampled_space", "bytes", 0, 0,
                                     &values[0].sample_type, err));
    PCI_TRY(pcol_builder_sample_type(r->v8.builder, "samples", "count", 0, 0,
                                     &values[1].sample_type, err));
    for (uint64_t at = 0; at < pci_spill_size(&r->samples); at += 16) {
        int64_t numbers[2];
        PCI_TRY(pci_spill_read(&r->samples, at, numbers, sizeof numbers, err));
        uint32_t node = pci_v8_find(&r->v8, 0, numbers[1]);
        values[0].as.i64 = numbers[0];
        PCI_TRY(put_row(r, node == PCOL_NONE ? 0 : r->v8.nodes[node].stack, values, 2, err));
    }
    return PCOL_OK;
}

static pcol_status build(struct reader *r, pcol_error *err)
{
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_value value = {.as.i64 = 0};
    PCI_TRY(pci_v8_add_nodes(&r->v8, 0, 0, err));
    PCI_TRY(pci_v8_resolve(&r->v8, err));
    PCI_TRY(pci_import_source(r->v8.import, &source, err));
    PCI_TRY(
        pcol_builder_sample_type(r->v8.builder, "space", "bytes", 0, 0, &value.sample_type, err));
    for (size_t i = 0; i < r->v8.node_count; i++) {
        value.as.i64 = r->v8.nodes[i].size;
        if (value.as.i64)
            PCI_TRY(put_row(r, r->v8.nodes[i].stack, &value, 1, err));
    }
    if (r->has_samples)
        PCI_TRY(put_samples(r, err));
    return pci_document_end(&r->v8.document, r->v8.import->source, err);
}

static pcol_status read_document(struct reader *r, pcol_error *err)
{
    struct pci_v8 *v8 = &r->v8;
    int more;
    PCI_TRY(pci_v8_begin_document(v8, "a heap profile", err));
    for (;;) {
        PCI_TRY(pci_json_member(&v8->json, &more, err));
        if (!more)
            break;
        int *part = pci_json_is(&v8->json, "head")      ? &r->has_head
                    : pci_json_is(&v8->json, "samples") ? &r->has_samples
                                                        : NULL;
        if (part && (*part)++)
            return pci_json_fail(&v8->json, err, "the profile has this member twice");
        PCI_TRY(part == &r->has_head ? pci_v8_read_head(v8, err)
                : part               ? pci_v8_read_array(v8, "samples", read_sample, r, err)
                       : pci_document_member(&v8->document, &v8->json, v8->document.root, err));
    }
    if (!r->has_head)
        return pci_json_fail(&v8->json, err, "a heap profile needs the member head");
    PCI_TRY(pci_json_finish(&v8->json, err));
    return build(r, err);
}

pcol_status pci_heapprofile_read(struct pci_import *import, pcol_error *err)
{
    struct reader r = {.v8 = PCI_V8_DOCUMENT(import)};
    pci_spill_init(&r.samples, &import->builder->store);
    pcol_status status = read_document(&r, err);
    pci_spill_clear(&r.samples);
    pci_v8_close(&r.v8);
    return status;
}
