/*
 * test_v8_arrays.c - `samples` and `timeDeltas` of CPU profiles from rows, and files whose arrays
 * do not fit their rows
 */
#include "rows_case.h"

#include "formats/v8/v8.h"
#include "model/json_tree.h"
#include "stream/input_open.h"

#include <string.h>

static char out[4096];
static size_t out_size;

static pcol_status collect(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context;
    (void)err;
    cr_assert_lt(out_size + size, sizeof out);
    memcpy(out + out_size, data, size);
    out_size += size;
    return PCOL_OK;
}

/* Rows of two stacks: 1 at 0 us, 2 at 10 us, 1 at 20 us, 2 at 30 us; of the second source 1 at
 * 1 ns. */
static void add_rows(pcol_builder *b)
{
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_group group = PCOL_INIT(pcol_group);
    pcol_sample sample = PCOL_INIT(pcol_sample);
    uint32_t groups[2], stacks[2], row;
    source.type = "test";
    OK(pcol_builder_source(b, &source, &row, NULL));
    group.mapping = PCOL_NONE;
    for (uint32_t i = 0; i < 2; i++) {
        group.variant = i;
        OK(pcol_builder_group(b, &group, &groups[i], NULL));
        OK(pcol_builder_stack(b, 0, groups[i], &stacks[i], NULL));
    }
    sample.thread = PCOL_NONE;
    sample.flags = PCOL_SAMPLE_HAS_TIME;
    for (int i = 0; i < 5; i++) {
        sample.source = i == 4;
        sample.stack = stacks[i % 2];
        sample.time_ns = i == 4 ? 1 : 10000 * i;
        OK(pcol_builder_sample(b, &sample, NULL, NULL));
    }
}

/* The document {"samples": ..., "timeDeltas": ...} of the elements; expected: NULL for
 * E_CORRUPT. */
static void write_elements(uint32_t source, const char *samples, const char *deltas,
                           const char *expected)
{
    static const struct pci_json_options options = {.flags = PCI_JSON_FINITE};
    const char *const keys[] = {"samples", "timeDeltas"}, *const texts[] = {samples, deltas};
    pcol_builder *b = rows_begin();
    struct pci_document document;
    struct rows_made made;
    pcol_error err = {0};
    add_rows(b);
    OK(pci_document_begin(&document, b, NULL));
    for (int i = 0; i < 2; i++) {
        struct pci_input input;
        struct pci_json json;
        uint64_t node;
        OK(pci_input_open_memory(&input, texts[i], strlen(texts[i]), "test", NULL, NULL));
        OK(pci_json_open(&json, &input, &options, NULL));
        OK(pci_json_next(&json, NULL));
        OK(pci_document_place(&document, document.root, keys[i], NULL));
        OK(pci_json_to_nodes(&json, b, document.arrays, PCOL_NONE, &node, NULL));
        pci_json_close(&json);
        pci_input_close(&input);
    }
    OK(pci_document_end(&document, source, NULL));
    rows_finish(b, &made);
    pcol_export_options given = PCOL_INIT(pcol_export_options);
    struct pci_capabilities capabilities = {.loss_prefix = "it cannot hold"};
    struct pci_export export = {.file = made.file,
                                .options = &given,
                                .first_source = source,
                                .last_source = source,
                                .sink = {collect, NULL},
                                .capabilities = &capabilities};
    out_size = 0;
    pcol_status status = pci_v8_write_document(&export, &err);
    cr_assert_eq(status, expected ? PCOL_OK : PCOL_E_CORRUPT, "%s %s: %d: %s", samples, deltas,
                 status, err.message);
    out[out_size] = 0;
    if (expected)
        cr_assert_str_eq(out, expected);
    rows_drop(&made);
}

Test(v8_arrays, rows_in_the_order_of_the_file)
{
    write_elements(0, "{\"ids\":[7,-9],\"count\":4}", "{\"start\":-5}",
                   "{\"samples\":[7,-9,7,-9],\"timeDeltas\":[5,10,10,10]}\n");
    write_elements(0, "{\"ids\":[7],\"count\":1}", "[1.5]",
                   "{\"samples\":[7],\"timeDeltas\":[1.5]}\n");
    write_elements(1, "{\"ids\":[3],\"count\":1}", "[8]", "{\"samples\":[3],\"timeDeltas\":[8]}\n");
}

/* Sorting moved the second sample by 1 and the last by 2: the times of the file are 20, 0, 30,
 * 10. */
Test(v8_arrays, moves_are_undone)
{
    write_elements(0, "{\"ids\":[1,2],\"count\":4,\"late\":[1,2],\"by\":[1,2]}", "{\"start\":0}",
                   "{\"samples\":[1,1,2,2],\"timeDeltas\":[20,-20,30,-20]}\n");
    write_elements(0, "{\"ids\":[1,2],\"count\":4,\"late\":[1,1,1],\"by\":[1,2,3]}",
                   "{\"start\":0}", "{\"samples\":[2,1,2,1],\"timeDeltas\":[30,-10,-10,-10]}\n");
}

Test(v8_arrays, arrays_that_do_not_fit_are_corrupt)
{
    static const char *const samples[] = {
        "{\"ids\":[1],\"count\":4}",                 /* too few ids */
        "{\"ids\":[1,2,3],\"count\":4}",             /* too many */
        "{\"ids\":[1,2,3,4,5],\"count\":4}",         /* more than rows */
        "{\"ids\":[1,2],\"ids\":[1,2],\"count\":4}", /* twice */
        "{\"ids\":\"x\",\"count\":4}",               /* no integers */
        "{\"ids\":[1,2]}",                           /* no count */
        "{\"ids\":[1,2],\"count\":\"4\"}",
        "{\"ids\":[1,2],\"count\":-1}",
        "{\"ids\":[1,2],\"count\":5}",              /* of two sources */
        "{\"ids\":[1,2],\"count\":6}",              /* more than rows */
        "{\"ids\":[1,2],\"count\":4,\"late\":[1]}", /* no distances */
        "{\"ids\":[1,2],\"count\":4,\"late\":[1,2],\"by\":[1]}",
        "{\"ids\":[1,2],\"count\":4,\"late\":[0],\"by\":[1]}", /* not ascending */
        "{\"ids\":[1,2],\"count\":4,\"late\":[-1],\"by\":[1]}",
        "{\"ids\":[1,2],\"count\":4,\"late\":[4],\"by\":[1]}", /* no such sample */
        "{\"ids\":[1,2],\"count\":4,\"late\":[2,2],\"by\":[1,1]}",
        "{\"ids\":[1,2],\"count\":4,\"late\":[1],\"by\":[2]}", /* before the first */
        "{\"ids\":[1,2],\"count\":4,\"late\":[1],\"by\":[0]}",
        "{\"ids\":[1,2],\"count\":4,\"late\":[1],\"by\":[-1]}",
        "{\"id\":[1,2],\"count\":4}", /* another object */
        "7",
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        write_elements(0, samples[i], "{\"start\":0}", NULL);
    write_elements(0, "[1,2,1,2]", "{\"start\":0}", NULL); /* no object of samples */
    write_elements(0, "{\"ids\":[1,2],\"count\":4}", "{\"start\":0.5}", NULL);
    write_elements(0, "{\"ids\":[1,2],\"count\":4}", "{\"start\":-9223372036854775808}", NULL);
    write_elements(0, "{\"ids\":[1,2],\"count\":4}", "{\"ids\":[1,2],\"count\":4}", NULL);
    write_elements(0, "{\"start\":0}", "{\"start\":0}", NULL);
    write_elements(1, "{\"ids\":[3],\"count\":1}", "{\"start\":0}", NULL); /* 1 ns */
}
