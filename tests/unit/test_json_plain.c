/*
 * test_json_plain.c - shortcuts of the JSON reader for common numbers, strings, lists of integers
 *
 * Each value is read twice: far from the end of the text, where the shortcuts apply, and at the
 * end, where they do not.
 */
#include "rows_case.h"

#include "stream/input_open.h"
#include "json/json.h"

#include <stdio.h>
#include <string.h>

static struct pci_input input;
static struct pci_json json;

/* Reads the first token. */
static void open_text(const char *text)
{
    static const struct pci_json_options options = {.flags = PCI_JSON_FINITE};
    OK(pci_input_open_memory(&input, text, strlen(text), "test", NULL, NULL));
    OK(pci_json_open(&json, &input, &options, NULL));
    OK(pci_json_next(&json, NULL));
}

static void close_text(void)
{
    pci_json_close(&json);
    pci_input_close(&input);
}

struct token {
    pcol_status status;
    enum pci_json_type type;
    char text[64];
    size_t size;
    int64_t integer;
    double number;
    uint64_t column, end;
};

/* The first element of the array, and where the second token after it begins. */
static void read_element(const char *text, struct token *token)
{
    memset(token, 0, sizeof *token);
    open_text(text);
    token->status = pci_json_next(&json, NULL);
    if (token->status == PCOL_OK) {
        token->type = json.type;
        token->column = json.column;
        token->size = json.text.size;
        memcpy(token->text, json.text.data, json.text.size);
        token->integer = json.type == PCI_JSON_INT ? json.integer : 0;
        token->number = json.type == PCI_JSON_STRING ? 0 : json.number;
        token->status = pci_json_next(&json, NULL);
        token->end = json.column;
    }
    close_text();
}

static void expect_same(const char *value)
{
    char near[200], far[400];
    struct token expected, token;
    sprintf(near, "[%s]", value);
    sprintf(far, "[%s]%100s", value, "");
    read_element(near, &expected);
    read_element(far, &token);
    cr_assert_arr_eq(&token, &expected, sizeof token, "%s", value);
}

Test(json_plain, numbers)
{
    static const char *const texts[] = {"0",
                                        "-0",
                                        "7",
                                        "-7",
                                        "00",
                                        "01",
                                        "-01",
                                        "1.5",
                                        "-0.25",
                                        "1.",
                                        ".5",
                                        "1.5.5",
                                        "1e3",
                                        "1E-2",
                                        "12345678",
                                        "123456789",
                                        "1.5e3",
                                        "-",
                                        "--1",
                                        "+1",
                                        "1-1",
                                        "1x",
                                        "1.5x",
                                        "1234567890123456",
                                        "0.0",
                                        "-0.0",
                                        "12345678901234567",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "-9223372036854775808",
                                        "0.1234567890123456789",
                                        "1 ",
                                        "1\t",
                                        "1\n",
                                        "1.5 ",
                                        "1 2",
                                        "1:",
                                        "1\"",
                                        "123456789012345.1234",
                                        "1\x01",
                                        "1\xff",
                                        "1}",
                                        "1,",
                                        "1.5,",
                                        "-5]",
                                        "null",
                                        "1e400"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_same(texts[i]);
}

Test(json_plain, random_numbers)
{
    char text[80];
    for (uint32_t turn = 1; turn < 20000; turn++) {
        rows_seed = turn;
        uint32_t size = 1 + rows_dice(24), at = 0;
        for (; at < size; at++)
            text[at] = "0123456789012345678901234567890123456789-.e "[rows_dice(at ? 44 : 43)];
        text[at] = 0;
        expect_same(text);
    }
}

/* A special byte, and none, at each place. */
Test(json_plain, strings)
{
    static const char *const special[] = {"",     "\\n", "\\\"", "\\u00e9",  "\x01",
                                          "\x1f", " ",   "\x7f", "\xc3\xa9", "\\"};
    char text[100];
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        for (size_t before = 0; before < 20; before++)
            for (size_t after = 0; after < 10; after++) {
                sprintf(text, "\"%.*s%s%.*s\"", (int)before, "abcdefghij!#[]{}~\xc2\x80z",
                        special[i], (int)after, "0123456789");
                expect_same(text);
            }
}

/* ---- lists */

#define MOST 4096

/* The array of `text`, each list followed by -1; columns of the lists. */
static size_t read_lists(const char *text, int shortcut, int64_t *out, uint64_t *columns)
{
    size_t n = 0, lists = 0;
    int more, inner;
    open_text(text);
    for (;;) {
        int64_t values[16];
        struct pci_json_list found[3];
        size_t got = shortcut ? pci_json_read_lists(&json, values, 16, found, 3) : 0;
        for (size_t i = 0, k = 0; i < got; i++) {
            cr_assert_lt(n + 20, MOST);
            for (; k < found[i].end; k++)
                out[n++] = values[k];
            out[n++] = -1;
            columns[lists++] = found[i].column;
        }
        if (got)
            continue;
        OK(pci_json_element(&json, &more, NULL));
        if (!more)
            break;
        columns[lists++] = json.column;
        if (json.type == PCI_JSON_ARRAY) {
            for (;;) {
                OK(pci_json_element(&json, &inner, NULL));
                if (!inner)
                    break;
                cr_assert_lt(n + 2, MOST);
                out[n++] = json.type == PCI_JSON_INT ? json.integer : -2;
                OK(pci_json_skip(&json, NULL));
            }
        }
        out[n++] = -1;
    }
    OK(pci_json_finish(&json, NULL));
    close_text();
    return n;
}

Test(json_plain, lists)
{
    static char text[40000];
    static int64_t expected[MOST], got[MOST];
    static uint64_t expected_columns[MOST], columns[MOST];
    static const char *const elements[] = {"0",   "7",  "12",  "1234567", "12345678", "-3", "[]",
                                           "[1]", "{}", "1.5", "null",    "123",      " 4", "5 "};
    for (uint32_t turn = 1; turn < 400; turn++) {
        rows_seed = turn;
        uint32_t odd = turn % 3 ? 4 : 14; /* mostly without unusual elements */
        char *to = text + sprintf(text, "[");
        for (uint32_t i = 0, n = rows_dice(60); i < n; i++) {
            to += sprintf(to, "%s%s[", i ? "," : "",
                          rows_dice(8)   ? ""
                          : rows_dice(2) ? " "
                          : turn % 3     ? ""
                                         : "\n");
            for (uint32_t k = 0, m = rows_dice(rows_dice(10) ? 5 : 25); k < m; k++)
                to += sprintf(to, "%s%s%s", k ? "," : "", rows_dice(4) ? "" : " ",
                              elements[rows_dice(odd)]);
            to += sprintf(to, "]");
        }
        sprintf(to, "]%100s", "");
        size_t n = read_lists(text, 0, expected, expected_columns);
        cr_assert_eq(read_lists(text, 1, got, columns), n, "%s", text);
        cr_assert_arr_eq(got, expected, n * sizeof *got, "%s", text);
        for (size_t i = 0, list = 0; i < n; i++)
            if (expected[i] == -1) {
                cr_assert_eq(columns[list], expected_columns[list], "%s", text);
                list++;
            }
    }
}
