/*
 * value.c - reads one JSON value into a cell
 *
 * Scalars are stored directly. A uid or trace that consists of flat objects becomes a frame or
 * trace. Any other value is stored as text, and converted to nodes when its row is built.
 */
#include "formats/perun/perun.h"

#include "util/alloc.h"

pcol_status pci_perun_read_scalar(struct pci_perun *p, struct pci_perun_cell *cell, int *is_scalar,
                                  pcol_error *err)
{
    const struct pci_json *json = &p->json;
    uint32_t string = 0;
    *is_scalar = 1;
    switch (json->type) {
    case PCI_JSON_STRING:
    case PCI_JSON_BIG:
        cell->kind = json->type == PCI_JSON_BIG ? PCI_PERUN_BIG : PCI_PERUN_STRING;
        PCI_TRY(pcol_builder_string(p->builder, json->text.data, json->text.size, &string, err));
        cell->value = string;
        return PCOL_OK;
    case PCI_JSON_INT:
        cell->kind = PCI_PERUN_INTEGER;
        cell->value = json->integer;
        return PCOL_OK;
    case PCI_JSON_DOUBLE:
        cell->kind = PCI_PERUN_DOUBLE;
        memcpy(&cell->value, &json->number, sizeof cell->value);
        return PCOL_OK;
    case PCI_JSON_TRUE:
    case PCI_JSON_FALSE:
        cell->kind = PCI_PERUN_BOOL;
        cell->value = json->type == PCI_JSON_TRUE;
        return PCOL_OK;
    case PCI_JSON_NULL:
        cell->kind = PCI_PERUN_NULL;
        cell->value = 0;
        return PCOL_OK;
    case PCI_JSON_END:
    case PCI_JSON_OBJECT:
    case PCI_JSON_OBJECT_END:
    case PCI_JSON_ARRAY:
    case PCI_JSON_ARRAY_END:
    case PCI_JSON_KEY:
        break;
    }
    *is_scalar = 0;
    return PCOL_OK;
}

pcol_status pci_perun_read_value(struct pci_perun *p, uint32_t key, struct pci_perun_cell *cell,
                                 pcol_error *err)
{
    const uint32_t *roles = p->shapes.role_keys;
    int is_scalar;
    cell->key = key;
    PCI_TRY(pci_perun_read_scalar(p, cell, &is_scalar, err));
    if (is_scalar)
        return PCOL_OK;
    if ((key == roles[PCI_PERUN_UID] && p->json.type == PCI_JSON_OBJECT) ||
        (key == roles[PCI_PERUN_TRACE_ROLE] && p->json.type == PCI_JSON_ARRAY))
        return pci_perun_read_frames(p, cell, err);
    PCI_TRY(pci_perun_text_begin(p, err));
    PCI_TRY(pci_perun_text_value(p, err));
    return pci_perun_text_store(p, cell, err);
}

/* ---- texts */

static pcol_status append_text(void *context, const void *data, size_t size, pcol_error *err)
{
    struct pci_perun *p = context;
    PCI_TRY(PCI_GROW(p->text, p->text_capacity, p->text_size + size, err));
    memcpy(p->text + p->text_size, data, size);
    p->text_size += size;
    return PCOL_OK;
}

pcol_status pci_perun_text_begin(struct pci_perun *p, pcol_error *err)
{
    p->text_size = 0;
    if (!p->writer.buffer)
        return pci_json_writer_open(&p->writer, (pcol_sink){append_text, p},
                                    PCI_JSON_WTF8 | PCI_JSON_BARE_NONFINITE | PCI_JSON_POINT, err);
    p->writer.comma = 0;
    return PCOL_OK;
}

pcol_status pci_perun_text_value(struct pci_perun *p, pcol_error *err)
{
    uint32_t depth = p->json.depth;
    if (p->json.type == PCI_JSON_OBJECT || p->json.type == PCI_JSON_ARRAY)
        depth--;
    pci_json_put_token(&p->writer, &p->json, err);
    while (p->json.depth > depth) {
        PCI_TRY(pci_json_next(&p->json, err));
        pci_json_put_token(&p->writer, &p->json, err);
        PCI_TRY(p->writer.status);
    }
    return p->writer.status;
}

static void put_scalar(struct pci_perun *p, const struct pci_perun_cell *cell, pcol_error *err)
{
    struct pci_json_writer *w = &p->writer;
    const struct pci_string_pool *strings = &p->builder->strings;
    double number;
    switch ((enum pci_perun_kind)cell->kind) {
    case PCI_PERUN_STRING:
        pci_json_put_string(w, pci_string_pool_get(strings, (uint32_t)cell->value), err);
        break;
    case PCI_PERUN_BIG: {
        pcol_str digits = pci_string_pool_get(strings, (uint32_t)cell->value);
        pci_json_put_raw(w, digits.data, digits.size, err);
        break;
    }
    case PCI_PERUN_INTEGER:
        pci_json_put_int(w, cell->value, err);
        break;
    case PCI_PERUN_DOUBLE:
        memcpy(&number, &cell->value, sizeof number);
        pci_json_put_double(w, number, err);
        break;
    case PCI_PERUN_BOOL:
        pci_json_put_raw(w, cell->value ? "true" : "false", cell->value ? 4 : 5, err);
        break;
    case PCI_PERUN_NULL:
    case PCI_PERUN_VALUE:
    case PCI_PERUN_SAMPLE_STACK:
    case PCI_PERUN_SAMPLE_FRAME:
    case PCI_PERUN_SAMPLE_NAME:
    case PCI_PERUN_FRAME:
    case PCI_PERUN_TRACE:
    case PCI_PERUN_TEXT:
    case PCI_PERUN_TABLE:
        pci_json_put_raw(w, "null", 4, err);
        break;
    }
}

void pci_perun_text_cell(struct pci_perun *p, const struct pci_perun_cell *cell, pcol_error *err)
{
    pci_json_put_key_bytes(&p->writer, pci_string_pool_get(&p->builder->strings, cell->key), err);
    put_scalar(p, cell, err);
}

static void put_frame(struct pci_perun *p, int64_t number, pcol_error *err)
{
    const struct pci_perun_frame *f = &p->frames.frames[number];
    pci_json_put_begin(&p->writer, '{', err);
    for (uint32_t i = 0; i < f->count; i++)
        pci_perun_text_cell(p, &p->frames.cells[f->first + i], err);
    pci_json_put_end(&p->writer, '}', err);
}

pcol_status pci_perun_text_any_cell(struct pci_perun *p, const struct pci_perun_cell *cell,
                                    pcol_error *err)
{
    struct pci_json_writer *w = &p->writer;
    if (cell->kind == PCI_PERUN_FRAME) {
        put_frame(p, cell->value, err);
    } else if (cell->kind == PCI_PERUN_TRACE) {
        const struct pci_perun_frame *t = &p->frames.traces[cell->value];
        pci_json_put_begin(w, '[', err);
        for (uint32_t i = 0; i < t->count; i++)
            put_frame(p, p->frames.members[t->first + i], err);
        pci_json_put_end(w, ']', err);
    } else if (cell->kind == PCI_PERUN_TEXT) {
        uint64_t size;
        uint64_t at = (uint64_t)cell->value;
        PCI_TRY(pci_spill_read(&p->texts, at, &size, sizeof size, err));
        char *text;
        PCI_TRY(PCI_MALLOC(text, (size_t)size, err));
        pcol_status status = pci_spill_read(&p->texts, at + sizeof size, text, (size_t)size, err);
        if (status == PCOL_OK)
            pci_json_put_raw(w, text, (size_t)size, err);
        pci_free(text);
        PCI_TRY(status);
    } else {
        put_scalar(p, cell, err);
    }
    return w->status;
}

pcol_status pci_perun_text_end(struct pci_perun *p, pcol_error *err)
{
    return pci_json_writer_finish(&p->writer, err);
}

pcol_status pci_perun_text_store(struct pci_perun *p, struct pci_perun_cell *cell, pcol_error *err)
{
    PCI_TRY(pci_perun_text_end(p, err));
    cell->kind = PCI_PERUN_TEXT;
    cell->value = (int64_t)pci_spill_size(&p->texts);
    PCI_TRY(pci_spill_append_u64(&p->texts, p->text_size, err));
    return pci_spill_append(&p->texts, p->text, p->text_size, err);
}

pcol_status pci_perun_text_get(struct pci_perun *p, int64_t offset, pcol_str *text, pcol_error *err)
{
    uint64_t size;
    PCI_TRY(pci_spill_read(&p->texts, (uint64_t)offset, &size, sizeof size, err));
    PCI_TRY(PCI_GROW(p->text, p->text_capacity, (size_t)size, err));
    text->data = p->text;
    text->size = (size_t)size;
    return pci_spill_read(&p->texts, (uint64_t)offset + sizeof size, p->text, text->size, err);
}
