/*
 * read.c - import of OpenTelemetry profiles, and export of the bytes that were imported
 *
 * sources.extra is an object: `bytes`, the size of the input, and `words`, the input as 64-bit
 * words, least significant byte first, the last one filled with zeros. An export reads them again
 * before it writes them, so that it writes no message that is none.
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

static pcol_status read_messages(struct pci_otlp *r, pcol_error *err)
{
    pcol_source empty = PCOL_INIT(pcol_source);
    PCI_TRY(pci_otlp_find_messages(r, err));
    PCI_TRY(pci_otlp_find_layout(r, err));
    for (size_t i = 0; i < r->message_count; i++) {
        PCI_TRY(pci_otlp_scan_tables(r, r->messages[i], err));
        PCI_TRY(pci_otlp_read_tables(r, err));
        PCI_TRY(pci_otlp_read_samples(r, r->messages[i], err));
    }
    return r->has_source ? PCOL_OK : pci_import_source(r->import, &empty, err);
}

static void close_reader(struct pci_otlp *r)
{
    pci_free((void *)(uintptr_t)r->input.data);
    pci_strbuf_clear(&r->bytes);
    pci_free(r->places);
    pci_free(r->messages);
    for (int i = 0; i < PCI_OTLP_TABLES; i++) {
        pci_free(r->tables[i].entries);
        pci_free(r->tables[i].rows);
    }
    pci_free(r->attributes);
    pci_free(r->resource);
    pci_free(r->indices.values);
    pci_free(r->values.values);
    pci_free(r->times.values);
    pci_free(r->lines);
    pci_free(r->labels);
}

pcol_status pci_otlp_read(struct pci_import *import, pcol_error *err)
{
    struct pci_otlp r = {.import = import, .builder = import->builder};
    void *data = NULL;
    pcol_status status = pci_input_rest(import->input, &data, &r.input.size, err);
    r.input.data = data;
    PCI_THEN(status, read_messages(&r, err));
    PCI_THEN(status, keep_input(&r, err));
    close_reader(&r);
    return status;
}

/* ---- export */

static pcol_status read_words(const struct pci_node_reader *nodes, uint64_t root, uint8_t **data,
                              size_t *size, pcol_error *err)
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
    *size = (size_t)left;
    PCI_TRY(PCI_MALLOC(*data, (size_t)count * WORD + 1, err));
    for (uint64_t at = 0; at < count; at += BATCH) {
        size_t n = count - at < BATCH ? (size_t)(count - at) : BATCH;
        PCI_TRY(pci_nodes_elements(nodes, &words, at, n, values, err));
        for (size_t i = 0; i < n * WORD; i++)
            (*data)[at * WORD + i] = (uint8_t)((uint64_t)values[i / WORD] >> 8 * (i % WORD));
    }
    return PCOL_OK;
}

/* Reads the message into a builder that is thrown away, with the budget of an import. */
static pcol_status verify(const struct pci_export *export, uint64_t root, struct pci_otlp *r,
                          pcol_error *err)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    struct pci_input input = {.name = ""};
    struct pci_import import = {
        .input = &input, .options = &options, .type = "otlp", .schemas = export->file->schemas};
    pcol_error problem;
    PCI_TRY(pcol_builder_new(NULL, &import.builder, err));
    r->import = &import;
    r->builder = import.builder;
    r->builder->budget.used = 1;
    r->builder->budget.trusted = export->file->trusted;
    pci_budget_grant(&r->builder->budget, r->input.size);
    struct pci_budget *enclosing = pci_budget_enter(&r->builder->budget);
    pcol_status status = read_messages(r, &problem);
    pci_budget_leave(enclosing);
    pcol_builder_free(import.builder);
    if (status == PCOL_E_SYNTAX)
        return pci_corrupt(err, "nodes", NULL, root, "the message of the source is damaged: %s",
                           problem.message);
    return status == PCOL_OK ? PCOL_OK : pci_fail(err, status, "%s", problem.message);
}

static pcol_status put(const struct pci_export *export, struct pci_otlp_span bytes, pcol_error *err)
{
    struct pci_out *out;
    PCI_TRY(PCI_MALLOC(out, 1, err));
    pci_out_open(out, export->sink);
    pcol_status status = pci_out(out, bytes.data, bytes.size, err);
    PCI_THEN(status, pci_out_flush(out, err));
    pci_free(out);
    return status;
}

static pcol_status write_message(const struct pci_export *export, uint64_t root, pcol_error *err)
{
    struct pci_otlp r = {.is_export = 1};
    struct pci_node_reader nodes;
    uint8_t *data = NULL;
    PCI_TRY(pci_nodes_open(&nodes, export->file, err));
    pcol_status status = read_words(&nodes, root, &data, &r.input.size, err);
    r.input.data = data;
    PCI_THEN(status, verify(export, root, &r, err));
    PCI_THEN(status, put(export, r.input, err));
    close_reader(&r);
    return status;
}

pcol_status pci_otlp_write(const struct pci_export *export, pcol_error *err)
{
    uint64_t root;
    PCI_TRY(pci_document_find(export, "otlp", &root, err));
    if (root == PCI_NO_NODE)
        return pci_fail(err, PCOL_E_LOSS,
                        "OTLP is written from one source of type otlp with all of its "
                        "samples only: export it as pprof");
    PCI_TRY(write_message(export, root, err));
    return pci_export_losses(export, "", err);
}
