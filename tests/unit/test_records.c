/*
 * test_records.c - JSON values of repeated shape as a state machine with columns, through a file
 * and back, and files whose machine is wrong
 */
#include "rows_case.h"

#include "formats/records.h"
#include "model/json_tree.h"
#include "stream/input_open.h"

#include <stdio.h>
#include <string.h>

static char out[1 << 20];
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

/* The first token of the text is current. */
static void open_text(struct pci_json *json, struct pci_input *input, const char *text)
{
    static const struct pci_json_options options = {.flags = PCI_JSON_FINITE};
    OK(pci_input_open_memory(input, text, strlen(text), "test", NULL, NULL));
    OK(pci_json_open(json, input, &options, NULL));
    OK(pci_json_next(json, NULL));
}

static void close_text(struct pci_json *json, struct pci_input *input)
{
    OK(pci_json_finish(json, NULL));
    pci_json_close(json);
    pci_input_close(input);
}

/* Write the value that the node stores; `out` is its text. */
static pcol_status write_back(const struct rows_made *made, uint64_t element, pcol_error *err)
{
    struct pci_node_reader nodes;
    struct pci_json_writer w;
    OK(pci_nodes_open(&nodes, made->file, NULL));
    OK(pci_json_writer_open(&w, (pcol_sink){collect, NULL}, PCI_JSON_POINT | PCI_JSON_WTF8, NULL));
    out_size = 0;
    pcol_status status = pci_records_write(&nodes, element, &w, &(uint64_t){0}, err);
    if (status == PCOL_OK)
        OK(pci_json_writer_finish(&w, NULL));
    pci_json_writer_close(&w);
    out[out_size ? out_size - 1 : 0] = 0; /* the line feed */
    return status;
}

/* Number of nodes of the file. */
static uint64_t round_trip(const char *text)
{
    pcol_builder *b = rows_begin();
    struct pci_document document;
    struct pci_records records;
    struct pci_json json;
    struct pci_input input;
    struct rows_made made;
    struct pci_node_reader nodes;
    struct pci_node_value element;
    pcol_error err = {0};
    uint64_t arrays, row;
    int found;
    open_text(&json, &input, text);
    OK(pci_document_begin(&document, b, NULL));
    OK(pci_records_begin(&records, &document, document.root, "value", NULL));
    cr_assert_eq(pci_records_value(&records, &json, &err), PCOL_OK, "%s", err.message);
    OK(pci_records_end(&records, NULL));
    pci_records_clear(&records);
    close_text(&json, &input);
    OK(pci_document_end(&document, 0, NULL));
    rows_finish(b, &made);
    OK(pci_nodes_open(&nodes, made.file, NULL));
    OK(pci_document_find_member(&nodes, 0, "arrays", &arrays, NULL));
    OK(pci_nodes_first(&nodes, arrays, &row, NULL));
    OK(pci_nodes_get(&nodes, row, &element, NULL));
    OK(pci_records_find(&nodes, &element, &found, NULL));
    cr_assert(found);
    cr_assert_eq(write_back(&made, row, &err), PCOL_OK, "%.200s: %s", text, err.message);
    cr_assert_str_eq(out, text);
    uint64_t count = nodes.rows;
    rows_drop(&made);
    return count;
}

Test(records, values_of_all_kinds)
{
    round_trip("[]");
    round_trip("{}");
    round_trip("7");
    round_trip("-0");
    round_trip("\"x\"");
    round_trip("null");
    round_trip("[1,2,3]");
    round_trip("[1,\"a\",2,3,null,4.5,[],[[]],{},-0,5]");
    round_trip("[123456789012345678901234567890,[-0],{\"a\":-0,\"b\":99999999999999999999}]");
    round_trip("[true,true,false,null,1.5,-0.0,\"\",\"\\u0000\",\"\\ud800\"]");
    round_trip("[{\"a\":1,\"b\":{\"c\":\"x\"}},{\"a\":2,\"b\":{\"c\":\"y\"}},{\"b\":[],\"a\":3}]");
    round_trip("[{\"a\":1,\"a\":2,\"\":0},{\"a\":\"1\"},{\"a\":null},{\"a\":[1,2]},{\"a\":[{}]}]");
    round_trip("[9223372036854775807,-9223372036854775808,0]");
    round_trip("{\"c\":[{\"c\":[{\"c\":[]},{\"c\":[1]}]},{\"d\":{\"d\":{\"d\":{}}}}]}");
    round_trip("[[1,2],[1,2],[1,2,3],[],[5]]");
    round_trip("[5,5,5,5,5,5,5,5,5,5,5,5]");
    round_trip("[{},{},{},{}]");
}

/* Nodes do not grow with the number of objects of one shape. */
Test(records, repeated_objects_take_no_nodes)
{
    static char text[200000];
    uint64_t nodes[2];
    for (int k = 0; k < 2; k++) {
        size_t size = (size_t)sprintf(text, "[{\"id\":-1,\"in\":{\"s\":\"x\"},\"a\":[1]}");
        for (int i = 0; i < 20 + 2000 * k; i++)
            size += (size_t)sprintf(text + size, ",{\"id\":%d,\"in\":{\"s\":\"x%d\"},\"a\":[%d,7]}",
                                    i, i % 3, i * i);
        text[size] = ']';
        text[size + 1] = 0;
        nodes[k] = round_trip(text);
    }
    cr_assert_eq(nodes[0], nodes[1]);
}

/* More members than states: they become nodes. */
Test(records, members_beyond_the_limits)
{
    static char text[400000];
    size_t size = 0;
    text[size++] = '[';
    for (int i = 0; i < 600; i++) {
        size += (size_t)sprintf(text + size, "%s{\"id\":%d", i ? "," : "", i);
        for (int k = 0; k < 5; k++)
            size += (size_t)sprintf(text + size, ",\"k%d\":%s", (i * 7 + k * 11) % 500,
                                    k == 0   ? "1"
                                    : k == 1 ? "\"s\""
                                    : k == 2 ? "{\"x\":[1,{\"y\":2}]}"
                                    : k == 3 ? "[1,2]"
                                             : "-0");
        size += (size_t)sprintf(text + size, ",\"in%d\":{\"x\":%d},\"end\":%d}", i % 200, i, i);
    }
    strcpy(text + size, "]");
    round_trip(text);
}

static char *put_random(char *to, unsigned depth)
{
    static const char *const scalars[] = {"1",   "-5", "null", "true",    "\"s\"", "\"t\"",
                                          "0.5", "-0", "1.0",  "\"\\n\"", "false", "70000000000",
                                          "[]",  "{}", "0",    "[0]"};
    uint32_t kind = rows_dice(depth > 4 ? 4 : 8), count = rows_dice(5);
    if (kind < 4)
        return to + sprintf(to, "%s", scalars[rows_dice(16)]);
    *to++ = kind < 6 ? '{' : '[';
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            *to++ = ',';
        if (kind < 6)
            to += sprintf(to, "\"%c\":", 'a' + (int)rows_dice(6));
        to = put_random(to, depth + 1);
    }
    *to++ = kind < 6 ? '}' : ']';
    return to;
}

Test(records, random_values)
{
    static char text[200000];
    for (uint32_t turn = 0; turn < 300; turn++) {
        rows_seed = turn + 1;
        char *to = text;
        *to++ = '[';
        for (int i = 0; i < 20; i++) {
            if (i)
                *to++ = ',';
            to = put_random(to, 0);
        }
        strcpy(to, "]");
        round_trip(text);
    }
}

/* Write an element that is given as JSON; expected: NULL for E_CORRUPT. */
static void write_stored(const char *text, const char *expected)
{
    pcol_builder *b = rows_begin();
    struct pci_json json;
    struct pci_input input;
    struct rows_made made;
    pcol_error err = {0};
    uint64_t node;
    open_text(&json, &input, text);
    OK(pci_json_to_nodes(&json, b, PCI_NO_NODE, PCOL_NONE, &node, NULL));
    close_text(&json, &input);
    OK(pci_builder_extra(b, PCI_T_SOURCES, 0, node, NULL));
    rows_finish(b, &made);
    pcol_status status = write_back(&made, 0, &err);
    cr_assert_eq(status, expected ? PCOL_OK : PCOL_E_CORRUPT, "%s: %d: %s", text, status,
                 err.message);
    if (expected)
        cr_assert_str_eq(out, expected);
    rows_drop(&made);
}

#define ROOT "{\"start\":0,\"tag\":13,\"container\":7,\"next\":2}"
#define STORED(strings, states) "{\"strings\":[" strings "],\"states\":[" states "]}"

Test(records, stored_forms)
{
    write_stored(STORED("", ROOT ",{\"start\":0,\"tag\":3,\"values\":7}"), "7");
    write_stored(STORED("\"x\"", ROOT ",{\"start\":0,\"tag\":5,\"values\":0}"), "\"x\"");
    write_stored(STORED("", ROOT ",{\"start\":0,\"tag\":9,\"values\":2,\"elements\":[4,5]}"),
                 "4,5");
    write_stored(STORED("", ROOT ",{\"start\":0,\"tag\":7,\"child\":2},"
                                 "{\"start\":2,\"tag\":13,\"container\":7,\"next\":0}"),
                 "[]");
}

Test(records, wrong_machines_are_corrupt)
{
    static const char *const texts[] = {
        "{\"strings\":[]}",                                                /* no states */
        "{\"states\":[" ROOT "]}",                                         /* no strings */
        "{\"strings\":[],\"strings\":[],\"states\":[" ROOT "]}",           /* twice */
        "{\"strings\":[],\"more\":[],\"states\":[" ROOT "]}",              /* unknown */
        "{\"strings\":[],\"others\":3,\"states\":[" ROOT "]}",             /* not an array */
        STORED("", ""),                                                    /* empty */
        STORED("", "7"),                                                   /* not an object */
        STORED("", ROOT),                                                  /* no state to go to */
        STORED("", "{\"start\":0,\"tag\":13,\"container\":8,\"next\":1}"), /* not an array */
        STORED("", "{\"start\":0,\"tag\":13,\"container\":7,\"next\":1}"), /* to itself */
        STORED("", "{\"start\":0,\"tag\":13,\"container\":7,\"next\":0}"), /* ends the root */
        STORED("", ROOT ",{\"start\":5,\"tag\":3,\"values\":7}"),          /* no container */
        STORED("", ROOT ",{\"start\":1,\"tag\":3,\"values\":7}"),          /* not a start */
        STORED("",
               ROOT ",{\"start\":0,\"tag\":3,\"values\":7,\"key\":\"a\"}"), /* key in an array */
        STORED("", ROOT ",{\"start\":0,\"tag\":3}"),                        /* no values */
        STORED("", ROOT ",{\"start\":0,\"tag\":3,\"values\":\"x\"}"),       /* not numbers */
        STORED("", ROOT ",{\"start\":0,\"tag\":6,\"values\":1}"),           /* no such tag */
        STORED("", ROOT ",{\"start\":0,\"tag\":99,\"values\":1}"),
        STORED("", ROOT ",{\"start\":0,\"tag\":5,\"values\":0}"), /* no such string */
        STORED("\"x\"", ROOT ",{\"start\":0,\"tag\":5,\"values\":-1}"),
        STORED("", ROOT ",{\"start\":0,\"tag\":12}"), /* no other values */
        STORED("", ROOT ",{\"start\":0,\"tag\":9,\"values\":3,\"elements\":[4,5]}"), /* too few */
        STORED("", ROOT ",{\"start\":0,\"tag\":9,\"values\":3,\"elements\":4}"),     /* no array */
        STORED("", ROOT ",{\"start\":0,\"tag\":7,\"child\":1}"),            /* not a container */
        STORED("", ROOT ",{\"start\":0,\"tag\":8,\"child\":0}"),            /* of another kind */
        STORED("", ROOT ",{\"start\":0,\"tag\":7,\"child\":0,\"next\":2}"), /* endless depth */
        STORED("", ROOT ",{\"start\":0,\"tag\":7,\"child\":2},"             /* endless length */
                        "{\"start\":2,\"tag\":13,\"container\":7,\"next\":4},"
                        "{\"start\":2,\"tag\":3,\"values\":1,\"next\":4}"),
        STORED("", ROOT ",{\"start\":0,\"tag\":7,\"child\":2}," /* of the container outside */
                        "{\"start\":2,\"tag\":13,\"container\":7,\"next\":2}"),
        "{\"strings\":[],\"others\":[1],\"states\":[" ROOT ",{\"start\":0,\"tag\":8,\"child\":2},"
        "{\"start\":2,\"tag\":13,\"container\":8,\"next\":4},"
        "{\"start\":2,\"tag\":12,\"next\":0}]}", /* other members that are no object */
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        write_stored(texts[i], NULL);
}
