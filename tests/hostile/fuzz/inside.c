/*
 * inside.c - fuzz targets: the inflater, and the JSON reader and writer
 */
#include "targets.h"

#include "stream/input.h"
#include "stream/input_open.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

/* Megabytes of one byte cost time and find nothing: most inputs of a fuzzer get a lower limit. */
#define MAX_INFLATED ((uint64_t)1 << 22)
#define LITTLE_INFLATED ((uint64_t)1 << 17)

void fuzz_inflate(const uint8_t *data, size_t size)
{
    struct pci_input input;
    uint64_t most = fuzz_turn(16, 0) ? MAX_INFLATED : LITTLE_INFLATED, total = 0;
    struct pci_input_options options = {.max_bytes = most};
    if (pci_input_open_memory(&input, data, size, "input.gz", &options, NULL) != PCOL_OK)
        return;
    while (!input.end) {
        size_t consumed = input.size;
        total += consumed;
        if (pci_input_more(&input, consumed, NULL) != PCOL_OK)
            break;
        FUZZ_ASSERT(input.offset == total);
    }
    FUZZ_ASSERT(total <= most);
    pci_input_close(&input);
}

static pcol_status swallow(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context;
    (void)data;
    (void)size;
    (void)err;
    return PCOL_OK;
}

static void put(struct pci_json_writer *w, const struct pci_json *json)
{
    switch (json->type) {
    case PCI_JSON_OBJECT:
        pci_json_put_begin(w, '{', NULL);
        break;
    case PCI_JSON_OBJECT_END:
        pci_json_put_end(w, '}', NULL);
        break;
    case PCI_JSON_ARRAY:
        pci_json_put_begin(w, '[', NULL);
        break;
    case PCI_JSON_ARRAY_END:
        pci_json_put_end(w, ']', NULL);
        break;
    case PCI_JSON_KEY:
        pci_json_put_key_bytes(w, json->text, NULL);
        break;
    case PCI_JSON_STRING:
        pci_json_put_string(w, json->text, NULL);
        break;
    case PCI_JSON_INT:
        pci_json_put_int(w, json->integer, NULL);
        break;
    case PCI_JSON_BIG:
    case PCI_JSON_DOUBLE:
        pci_json_put_double(w, json->number, NULL);
        break;
    case PCI_JSON_TRUE:
    case PCI_JSON_FALSE:
    case PCI_JSON_NULL:
    case PCI_JSON_END:
        pci_json_put_raw(w, "null", 4, NULL);
        break;
    }
}

void fuzz_json(const uint8_t *data, size_t size)
{
    struct pci_input input;
    struct pci_json json;
    struct pci_json_writer writer;
    struct pci_input_options options = {.max_bytes = MAX_INFLATED};
    struct pci_json_options how = {PCI_JSON_NONFINITE, 0};
    pcol_sink sink = {swallow, NULL};
    how.flags |= size && (data[size - 1] & 1) ? PCI_JSON_SURROGATE_BYTES : 0;
    if (pci_input_open_memory(&input, data, size, "input.json", &options, NULL) != PCOL_OK)
        return;
    if (pci_json_writer_open(&writer, sink, PCI_JSON_WTF8, NULL) == PCOL_OK) {
        if (pci_json_open(&json, &input, &how, NULL) == PCOL_OK) {
            while (pci_json_next(&json, NULL) == PCOL_OK && json.type != PCI_JSON_END)
                put(&writer, &json);
            pci_json_close(&json);
        }
        (void)!pci_json_writer_finish(&writer, NULL);
        pci_json_writer_close(&writer);
    }
    pci_input_close(&input);
}

int fuzz_is_json(const struct fuzz_text *text, int nonfinite)
{
    struct pci_input input;
    struct pci_json json;
    struct pci_input_options options = {.max_bytes = (uint64_t)1 << 25};
    struct pci_json_options how = {nonfinite ? PCI_JSON_NONFINITE : 0, 0};
    int whole = 0;
    if (pci_input_open_memory(&input, text->data, text->size, "x.json", &options, NULL) != PCOL_OK)
        return 0;
    if (pci_json_open(&json, &input, &how, NULL) == PCOL_OK) {
        while (pci_json_next(&json, NULL) == PCOL_OK && !whole)
            whole = json.type == PCI_JSON_END;
        pci_json_close(&json);
    }
    pci_input_close(&input);
    return whole;
}
