/*
 * test_row_values.c - members of rows as values: JSON and flat texts of trees, frames and stacks,
 * and the order of flat keys
 */
#include "check_case.h"
#include "testing.h"

#include "formats/perun/flatten.h"
#include "model/keyed_json.h"
#include "util/alloc.h"

#include <string.h>

/* ---- trees that name rows */

static uint64_t next_node;

static void member(uint64_t parent, const char *key, int tag)
{
    case_node(next_node, (int64_t)parent, tag);
    case_string("nodes", "key", next_node, key);
    next_node++;
}

static void row_member(uint64_t parent, const char *key, const char *table, int64_t row,
                       int reversed)
{
    case_string("nodes", "text", next_node, table);
    case_number("nodes", "integer", PCOL_I64, NULL, next_node, row);
    if (reversed)
        OK(pcol_builder_set_f64(case_builder, case_column("nodes", "number", PCOL_F64, NULL),
                                next_node, 1, NULL));
    member(parent, key, 13);
}

/* Sample 0 owns an object, which is node 0; the stack of case_stacked() is row 2. */
static void tree_begin(void)
{
    case_stacked();
    case_node(0, -1, 8);
    case_owner(0, 0);
    next_node = 1;
}

struct reading {
    pcol_file *file;
    void *data;
    struct pci_keyed_reader samples;
    struct pci_values values;
    struct text text;
};

static void reading_begin(struct reading *r)
{
    *r = (struct reading){0};
    r->file = case_open(&r->data);
    OK(pci_keyed_open(&r->samples, r->file, "samples", NULL));
    OK(pci_values_open(&r->values, r->file, NULL));
}

static void reading_end(struct reading *r)
{
    pci_keyed_close(&r->samples);
    pci_values_close(&r->values);
    pcol_file_close(r->file);
    pcol_free(r->data);
    free(r->text.data);
}

/* The members of sample 0 as JSON. */
static pcol_status to_json(struct reading *r, pcol_error *err)
{
    struct pci_json_writer w;
    pcol_sink sink = {text_gather, &r->text};
    pcol_status status = pci_json_writer_open(&w, sink, 0, err);
    r->text.size = 0;
    if (status == PCOL_OK)
        status = pci_keyed_row(&r->samples, 0, err);
    if (status == PCOL_OK)
        status =
            pci_members_json(&r->values, r->samples.members, r->samples.count, &w, NULL, NULL, err);
    if (status == PCOL_OK)
        status = pci_json_writer_finish(&w, err);
    pci_json_writer_close(&w);
    return status;
}

/* The flat items of the members of sample 0, a line each; `most`: bytes of text that are
 * allowed. */
static pcol_status to_flat(struct reading *r, uint64_t most, pcol_error *err)
{
    struct pci_arena arena = {.most = most};
    pcol_status status = pci_keyed_row(&r->samples, 0, err);
    r->text.size = 0;
    for (size_t i = 0; status == PCOL_OK && i < r->samples.count; i++) {
        struct pci_flat flat = {0};
        struct pci_strbuf text = {0};
        pcol_str key = r->samples.members[i].key;
        status = pci_flatten(&r->values, &r->samples.members[i].value, &flat, &arena, err);
        for (size_t k = 0; status == PCOL_OK && k < flat.count; k++) {
            text.size = 0;
            status = pci_flat_text(&flat.items[k].value, &text, err);
            text_addf(&r->text, "%.*s:%.*s=%.*s\n", (int)key.size, key.data,
                      (int)flat.items[k].key.size, flat.items[k].key.data, (int)text.size,
                      text.data);
        }
        pci_strbuf_clear(&text);
        pci_free(flat.items);
    }
    pci_arena_clear(&arena);
    return status;
}

Test(values, rows_in_trees)
{
    struct reading r;
    pcol_error err = {0};
    tree_begin();
    row_member(0, "s", "stacks", 2, 0);
    row_member(0, "r", "stacks", 2, 1);
    row_member(0, "f", "location_groups", 1, 0);
    row_member(0, "none", "stacks", 0, 0);
    uint64_t inner = next_node;
    member(0, "in", 8);
    row_member(inner, "s", "stacks", 2, 1);
    row_member(inner, "f", "location_groups", 1, 0);
    reading_begin(&r);
    cr_assert_eq(to_json(&r, &err), PCOL_OK, "%s", err.message);
    cr_expect_str_eq(r.text.data, "{\"s\":[{\"function\":\"inner\"},"
                                  "{}],"
                                  "\"r\":[{},"
                                  "{\"function\":\"inner\"}],"
                                  "\"f\":{\"function\":\"inner\"},"
                                  "\"none\":[],"
                                  "\"in\":{\"s\":[{},"
                                  "{\"function\":\"inner\"}],"
                                  "\"f\":{\"function\":\"inner\"}}}\n");
    cr_assert_eq(to_flat(&r, 0, &err), PCOL_OK, "%s", err.message);
    cr_expect_str_eq(r.text.data, "s:=inner,\n"
                                  "r:=,inner\n"
                                  "f:function=inner\n"
                                  "f:=inner\n"
                                  "none:=\n"
                                  "in:s=,inner\n"
                                  "in:f:function=inner\n"
                                  "in:f=inner\n"
                                  "in:=inner:,inner:inner\n");
    reading_end(&r);
}

/* Faults of the tree: position and message. */
static void expect_error(const char *column, uint64_t row, const char *message)
{
    struct reading r;
    pcol_error err = {0};
    reading_begin(&r);
    cr_expect_eq(to_json(&r, &err), PCOL_E_CORRUPT);
    cr_expect_str_eq(err.message, message);
    cr_expect_str_eq(err.column, column);
    cr_expect_eq(err.row, row);
    reading_end(&r);
}

Test(values, trees_that_name_what_is_no_value)
{
    tree_begin();
    row_member(0, "a", "samples", 0, 0);
    expect_error("text", 1, "a row of this table is not a value");

    tree_begin();
    row_member(0, "a", "stacks", 3, 0);
    expect_error("", 3, "this row does not exist");

    tree_begin();
    row_member(0, "a", "location_groups", 2, 0);
    expect_error("", 2, "this group does not exist");

    tree_begin();
    member(0, "a", 8);
    case_string("nodes", "text", next_node, "stacks");
    member(1, "b", 12);
    expect_error("tag", 2, "a node of this tag has no value here");

    tree_begin();
    member(0, "a", 8);
    row_member(1, "b", "functions", 0, 0);
    expect_error("text", 2, "a row of this table is not a value");
}

/* Text doubles with each level of objects; more than is allowed is rejected wherever the limit
 * falls. */
Test(values, flat_texts_are_bounded)
{
    struct reading r;
    pcol_error err = {0};
    size_t whole;
    tree_begin();
    member(0, "a", 8);
    uint64_t parent = 1;
    for (int i = 0; i < 3; i++, parent = next_node - 1) {
        case_string("nodes", "text", next_node, "value");
        member(parent, "text", 5);
        member(parent, "deeper", 8);
    }
    case_string("nodes", "text", next_node, "end");
    member(parent, "last", 5);
    reading_begin(&r);
    cr_assert_eq(to_flat(&r, 0, &err), PCOL_OK, "%s", err.message);
    cr_expect(strstr(r.text.data, "a:deeper:deeper:deeper:last=end\n"), "%s", r.text.data);
    whole = strlen(r.text.data);
    uint64_t most = 1;
    while (to_flat(&r, most, &err) != PCOL_OK) {
        cr_assert_eq(err.status, PCOL_E_LIMIT, "%s", err.message);
        cr_assert(strstr(err.message, "a flat text is longer than"), "%s", err.message);
        most++;
    }
    cr_expect_eq(strlen(r.text.data), whole);
    cr_expect_gt(most, 100);
    reading_end(&r);
}

/* ---- the order of flat keys */

/* Others go by the decimal codes (code point + 6) of their characters, read as one number: so each
 * of these is the same number as a key of ASCII or of two-byte characters. A byte that is no UTF-8
 * is U+DC00 and itself. */
Test(values, keys_of_any_bytes)
{
    static const struct {
        const char *key, *same;
    } cases[] = {
        {"\xc3\xa9", "\x11\x03"},          /* U+00E9: 239 */
        {"\xe2\x82\xac", "M@"},            /* U+20AC: 8370 */
        {"\xf0\x9f\x98\x80", "\x06O\x0c"}, /* U+1F600: 128518 */
        {"\x80", "\xc8\xae"
                 "0"},            /* no first byte: 56454 */
        {"\xc1", "\xc8\xaf\x0d"}, /* nor this: 56519 */
        {"\xf5", "\xc8\xaf"
                 "A"}, /* 56571 */
        {"\xff", "\xc8\xaf"
                 "K"}, /* 56581 */
        {"\xe2\x82", "\xc8\xaf"
                     "."
                     "\xc8\xae"
                     "2"}, /* cut: 56552 56456 */
        {"\xe2(\xa1", "\xc8\xaf"
                      "."
                      "("
                      "\xc8\xae"
                      "Q"}, /* 56552 46 56487 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pcol_str key = {cases[i].key, strlen(cases[i].key)};
        pcol_str same = {cases[i].same, strlen(cases[i].same)};
        pcol_str more = {"\xf0\x9f\x98\x80zzz", 7};
        cr_expect_eq(pci_flat_compare(key, same), 0, "case %zu", i);
        cr_expect_lt(pci_flat_compare(key, more), 0, "case %zu", i);
        cr_expect_gt(pci_flat_compare(more, key), 0, "case %zu", i);
    }
}

Test(values, known_keys_come_first)
{
    static const char *const order[] = {"bin", "file", "class", "method", "line", "instruction"};
    pcol_str nine = {"\x03", 1}, six = {"", 0}, other = {"z", 1};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        pcol_str key = {order[i], strlen(order[i])};
        cr_expect_lt(pci_flat_compare(key, nine), 0);
        cr_expect_gt(pci_flat_compare(nine, key), 0);
        cr_expect_lt(pci_flat_compare(key, other), 0);
        cr_expect_gt(pci_flat_compare(key, six), 0, "a key without characters is no number");
        if (i)
            cr_expect_gt(pci_flat_compare(key, (pcol_str){order[i - 1], strlen(order[i - 1])}), 0);
    }
    cr_expect_lt(pci_flat_compare(nine, other), 0);
    cr_expect_eq(pci_flat_compare(other, other), 0);
}
