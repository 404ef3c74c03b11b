/*
 * read.c - import of OpenTelemetry profiles, and export of the bytes that were imported
 *
 * sources.extra is an object: `bytes`, the size of the input, and `words`, the input as 64-bit
 * words, least significant byte first, the last one filled with zeros.
 */
#include "formats/otlp/otlp.h"

#include "stream/input_open.h"
#include "stream/out_buffer.h"
#include "util/alloc.h"

#define WORD 8u
#define BATCH 256u

/* ---- import */

static pcol_status keep_input(struct pci_otlp *r, pcol_error *err)
{
    struct pci_new_node node = {.parent = PCI_NO_NODE, .key = PCOL_NONE, .tag = PCI_NODE_OBJECT};
    uint64_t root, words;
    PCI_TRY(pci_builder_node(r->builder, &node, &root, err));
    node = (struct pci_new_node){.parent = root, .tag = PCI_NODE_INTEGER, .text = PCOL_NONE};
    node.as.i64 = (int64_t)r->input.size;
    PCI_TRY(pcol_builder_string(r->builder, "bytes", 5, &node.key, err));
    PCI_TRY(pci_builder_node(r->builder, &node, &words, err));
    node = (struct pci_new_node){.parent = root, .tag = PCI_NODE_INTEGERS, .text = PCOL_NONE};
    PCI_TRY(pcol_builder_string(r->builder, "words", 5, &node.key, err));
    PCI_TRY(pci_builder_node(r->builder, &node, &words, err));
    for (size_t at = 0; at < r->input.size; at += WORD) {
        size_t size = r->input.size - at < WORD ? r->input.size - at : WORD;
        uint64_t word = 0;
        for (size_t i = 0; i < size; i++)
            word |= (uint64_t)r->input.data[at + i] << 8 * i;
        PCI_TRY(pci_builder_node_integer(r->builder, words, (int64_t)word, err));
    }
    return pci_builder_extra(r->builder, PCI_T_SOURCES, r->import->source, root, err);
}

static pcol_status read_all(struct pci_otlp *r, pcol_error *err)
{
    pcol_source empty = PCOL_INIT(pcol_source);
    void *data;
    PCI_TRY(pci_input_rest(r->import->input, &data, &r->input.size, err));
    r->input.data = data;
    PCI_TRY(pci_otlp_find_messages(r, err));
    PCI_TRY(pci_otlp_find_layout(r, err));
    for (size_t i = 0; i < r->message_count; i++) {
        PCI_TRY(pci_otlp_scan_tables(r, r->messages[i], err));
        PCI_TRY(pci_otlp_read_tables(r, err));
        PCI_TRY(pci_otlp_read_samples(r, r->messages[i], err));
    }
    if (!r->has_source)
        PCI_TRY(pci_import_source(r->import, &empty, err));
    return keep_input(r, err);
}

pcol_status pci_otlp_read(struct pci_import *import, pcol_error *err)
{
    struct pci_otlp r = {.import = import, .builder = import->builder};
    pcol_status status = read_all(&r, err);
    pci_free((void *)(uintptr_t)r.input.data);
    pci_strbuf_clear(&r.bytes);
    pci_free(r.places);
    pci_free(r.messages);
    for (int i = 0; i < PCI_OTLP_TABLES; i++) {
        pci_free(r.tables[i].entries);
        pci_free(r.tables[i].rows);
    }
    pci_free(r.attributes);
    pci_free(r.resource);
    pci_free(r.indices.values);
    pci_free(r.values.values);
    pci_free(r.times.values);
    pci_free(r.lines);
    pci_free(r.labels);
    return status;
}

/* ---- export */

static pcol_status write_words(const struct pci_node_reader *nodes, uint64_t root,
                               struct pci_out *out, pcol_error *err)
{
    struct pci_node_value bytes, words;
    int64_t values[BATCH];
    uint64_t member;
    PCI_TRY(pci_document_find_member(nodes, root, "bytes", &member, err));
    PCI_TRY(pci_nodes_get(nodes, member, &bytes, err));
    PCI_TRY(pci_document_find_member(nodes, root, "words", &member, err));
    PCI_TRY(pci_nodes_get(nodes, member, &words, err));
    uint64_t count = words.tag == PCI_NODE_INTEGERS ? words.end - words.first : 0;
    uint64_t left = (uint64_t)bytes.integer;
    if (bytes.tag != PCI_NODE_INTEGER || left / WORD + (left % WORD > 0) != count)
        return pci_corrupt(err, "nodes", "integer", bytes.row,
                           "`bytes` is not the size of `words`");
    for (uint64_t at = 0; at < count; at += BATCH) {
        size_t n = count - at < BATCH ? (size_t)(count - at) : BATCH;
        uint8_t block[BATCH * WORD];
        PCI_TRY(pci_nodes_elements(nodes, &words, at, n, values, err));
        for (size_t i = 0; i < n * WORD; i++)
            block[i] = (uint8_t)((uint64_t)values[i / WORD] >> 8 * (i % WORD));
        size_t size = left < n * WORD ? (size_t)left : n * WORD;
        PCI_TRY(pci_out(out, block, size, err));
        left -= size;
    }
    return PCOL_OK;
}

pcol_status pci_otlp_write(const struct pci_export *export, pcol_error *err)
{
    struct pci_node_reader nodes;
    struct pci_out *out;
    uint64_t root;
    PCI_TRY(pci_document_find(export, "otlp", &root, err));
    if (root == PCI_NO_NODE)
        return pci_fail(err, PCOL_E_LOSS,
                        "OTLP is written from one source of type otlp with all of its "
                        "samples only: export it as pprof");
    PCI_TRY(pci_nodes_open(&nodes, export->file, err));
    PCI_TRY(PCI_MALLOC(out, 1, err));
    pci_out_open(out, export->sink);
    pcol_status status = write_words(&nodes, root, out, err);
    PCI_THEN(status, pci_out_flush(out, err));
    pci_free(out);
    return status == PCOL_OK ? pci_export_losses(export, "", err) : status;
}
