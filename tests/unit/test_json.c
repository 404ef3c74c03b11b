/*
 * test_json.c - JSON reader and writer, and decimal numbers
 *
 * Each text is read through windows of one byte, a few bytes and all bytes: tokens must not depend
 * on the chunks of the input.
 * More than 600 lines: all texts are read through the token recorder below.
 */
#include <criterion/criterion.h>

#include "stream/input_open.h"
#include "json/json.h"
#include "json/number.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t pieces[] = {1, 2, 3, 7, 4096};

/* An input that really arrives in pieces: memory becomes the window as a whole, a pipe does not. */
static int feed(const char *text, size_t size, pid_t *child)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    *child = fork();
    if (!*child) {
        close(ends[0]);
        while (size) {
            ssize_t n = write(ends[1], text, size);
            if (n <= 0)
                break;
            text += n;
            size -= (size_t)n;
        }
        _exit(0);
    }
    close(ends[1]);
    return ends[0];
}

struct reading {
    char *out;
    size_t size, capacity;
};

static void record(struct reading *r, const char *text, size_t size)
{
    if (r->size + size + 1 > r->capacity) {
        r->capacity = (r->size + size + 1) * 2;
        r->out = realloc(r->out, r->capacity);
        cr_assert_not_null(r->out);
    }
    memcpy(r->out + r->size, text, size);
    r->size += size;
    r->out[r->size] = 0;
}

/* All tokens as text: i1 d0.5 b... s"..." k"..." { } [ ] T F N, then . at the end. */
static void say_token(struct reading *r, const struct pci_json *json)
{
    static const char marks[] = ".{}[]ksibdTFN";
    char text[64];
    record(r, &marks[json->type], 1);
    if (json->type == PCI_JSON_KEY || json->type == PCI_JSON_STRING) {
        record(r, "<", 1);
        record(r, json->text.data, json->text.size);
        record(r, json->lone_surrogate ? "!>" : ">", json->lone_surrogate ? 2 : 1);
    } else if (json->type == PCI_JSON_INT) {
        record(r, text, (size_t)snprintf(text, sizeof text, "%" PRId64, json->integer));
    } else if (json->type == PCI_JSON_BIG) {
        record(r, json->text.data, json->text.size);
    } else if (json->type == PCI_JSON_DOUBLE) {
        record(r, text, (size_t)snprintf(text, sizeof text, "%.17g", json->number));
    }
    record(r, " ", 1);
}

static pcol_status read_all(struct pci_input *input, unsigned flags, struct reading *r,
                            pcol_error *err)
{
    struct pci_json json;
    struct pci_json_options options = {.flags = flags, .max_depth = 8};
    pcol_status status = pci_json_open(&json, input, &options, err);
    if (status != PCOL_OK)
        return status;
    do {
        status = pci_json_next(&json, err);
        if (status == PCOL_OK)
            say_token(r, &json);
    } while (status == PCOL_OK && json.type != PCI_JSON_END);
    pci_json_close(&json);
    return status;
}

static pcol_status tokens(const char *text, size_t size, unsigned flags, size_t piece,
                          struct reading *r, pcol_error *err)
{
    struct pci_input input;
    struct pci_input_options options = {.max_bytes = 0, .piece = piece};
    pid_t child;
    int status, fd = feed(text, size, &child);
    pcol_status result = pci_input_open_fd(&input, fd, "x.json", &options, err);
    if (result == PCOL_OK)
        result = read_all(&input, flags, r, err);
    pci_input_close(&input);
    close(fd);
    waitpid(child, &status, 0);
    return result;
}

static void expect_tokens(const char *text, size_t size, unsigned flags, const char *expected)
{
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        struct reading r = {0};
        pcol_error err = {0};
        cr_assert_eq(tokens(text, size, flags, pieces[i], &r, &err), PCOL_OK, "%s: %s", text,
                     err.message);
        cr_assert_str_eq(r.out, expected, "piece %zu of %s: %s", pieces[i], text, r.out);
        free(r.out);
    }
}

Test(json_read, tokens)
{
    static const struct {
        const char *text, *tokens;
    } cases[] = {
        {"{}", "{ } . "},
        {"[]", "[ ] . "},
        {" [ ] ", "[ ] . "},
        {"\xef\xbb\xbf[1]", "[ i1 ] . "},
        {"0", "i0 . "},
        {"-0", "i0 . "},
        {"\"a\"", "s<a> . "},
        {"null", "N . "},
        {"{\"a\":1,\"b\":[true,false,null]}", "{ k<a> i1 k<b> [ T F N ] } . "},
        {"{\"\":{\"\":[]}}", "{ k<> { k<> [ ] } } . "},
        {"[\r\n\t1 ,\n2 ]\n", "[ i1 i2 ] . "},
        {"[9223372036854775807,-9223372036854775808]",
         "[ i9223372036854775807 i-9223372036854775808 ] . "},
        {"[9223372036854775808,-9223372036854775809,123456789012345678901234567890]",
         "[ b9223372036854775808 b-9223372036854775809 b123456789012345678901234567890 ] . "},
        {"[1.0,1e3,-1.5E-2,0.1,1e400,5e-324]",
         "[ d1 d1000 d-0.014999999999999999 d0.10000000000000001 dinf "
         "d4.9406564584124654e-324 ] . "},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "s<\"\\/\b\f\n\r\t> . "},
        {"\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00\"", "s<A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80> . "},
        {"\"plain then \\\\ a very long tail of text\"",
         "s<plain then \\ a very long tail of text> . "},
        {"\"\\ud800\"", "s<\xed\xa0\x80!> . "},
        {"\"\\ud800\\ud83d\\ude00\"", "s<\xed\xa0\x80\xf0\x9f\x98\x80!> . "},
        {"\"\\udc80x\"", "s<\xed\xb2\x80x!> . "},
        {"\"\xff\"", "s<\xff> . "},
        {"[[[[[[[[]]]]]]]]", "[ [ [ [ [ [ [ [ ] ] ] ] ] ] ] ] . "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_tokens(cases[i].text, strlen(cases[i].text), 0, cases[i].tokens);
    expect_tokens("[NaN,Infinity,-Infinity,-1]", 27, PCI_JSON_NONFINITE,
                  "[ dnan dinf d-inf i-1 ] . ");
    expect_tokens("\"\\udc80\\udcff\\ud800\"", 20, PCI_JSON_SURROGATE_BYTES,
                  "s<\x80\xff\xed\xa0\x80!> . ");
    struct reading r = {0};
    pcol_error err;
    cr_assert_eq(tokens("\"a\\u0000b\"", 10, 0, 1, &r, &err), PCOL_OK);
    cr_assert_arr_eq(r.out, "s<a\0b> . ", 10);
    free(r.out);
}

/* What would not come back as the same value. */
Test(json_read, sound)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"\"\xff\"", "string is not UTF-8"},
        {"\"abcdefgh\xc3\"", "string is not UTF-8"},
        {"\"abcdefgh\xed\xa0\x80\"", "string is not UTF-8"},
        {"\"\xc0\x80\"", "string is not UTF-8"},
        {"\"\xf4\x90\x80\x80\"", "string is not UTF-8"},
        {"{\"\x80\":1}", "string is not UTF-8"},
        {"\"\\n\xff\"", "string is not UTF-8"},
        {"\"\\udc80\"", "lone surrogate in a string"},
        {"1e400", "number out of range"},
        {"-1e400", "number out of range"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reading r = {0};
        pcol_error err = {0};
        cr_assert_eq(tokens(cases[i].text, strlen(cases[i].text), PCI_JSON_SOUND, 4096, &r, &err),
                     PCOL_E_SYNTAX, "%s", cases[i].text);
        cr_assert_str_eq(err.message, cases[i].message);
        free(r.out);
    }
    expect_tokens("[-0,\"\xc3\xa9 abcdefg \xf0\x9f\x98\x80\"]", 22, PCI_JSON_SOUND,
                  "[ i0 s<\xc3\xa9 abcdefg \xf0\x9f\x98\x80> ] . ");
}

Test(json_read, hostile)
{
    static const struct {
        const char *text;
        pcol_status status;
        uint64_t line, column;
        const char *message;
    } cases[] = {
        {"", PCOL_E_SYNTAX, 1, 1, "no value"},
        {"  \n ", PCOL_E_SYNTAX, 2, 2, "no value"},
        {"{", PCOL_E_SYNTAX, 1, 2, "input ends inside an object"},
        {"[1", PCOL_E_SYNTAX, 1, 3, "input ends inside an array"},
        {"[1,", PCOL_E_SYNTAX, 1, 4, "input ends inside an array"},
        {"[1,]", PCOL_E_SYNTAX, 1, 4, "unexpected character"},
        {"[,1]", PCOL_E_SYNTAX, 1, 2, "unexpected character"},
        {"[1 2]", PCOL_E_SYNTAX, 1, 4, "expected ',' or ']'"},
        {"[1}", PCOL_E_SYNTAX, 1, 3, "expected ',' or ']'"},
        {"{\"a\":1]", PCOL_E_SYNTAX, 1, 7, "expected ',' or '}'"},
        {"{\"a\":1,}", PCOL_E_SYNTAX, 1, 8, "expected a key in quotes"},
        {"{a:1}", PCOL_E_SYNTAX, 1, 2, "expected a key in quotes"},
        {"{\"a\" 1}", PCOL_E_SYNTAX, 1, 6, "expected ':' after the key"},
        {"{\"a\"}", PCOL_E_SYNTAX, 1, 5, "expected ':' after the key"},
        {"{\"a\":", PCOL_E_SYNTAX, 1, 6, "input ends inside an object"},
        {"{\"a\":}", PCOL_E_SYNTAX, 1, 6, "unexpected character"},
        {"]", PCOL_E_SYNTAX, 1, 1, "unexpected character"},
        {"1 2", PCOL_E_SYNTAX, 1, 3, "text after the end of the value"},
        {"[]\n]", PCOL_E_SYNTAX, 2, 1, "text after the end of the value"},
        {"\"abc", PCOL_E_SYNTAX, 1, 1, "string is not terminated"},
        {"[\"abc\\", PCOL_E_SYNTAX, 1, 2, "string is not terminated"},
        {"\"abc\\\"", PCOL_E_SYNTAX, 1, 1, "string is not terminated"},
        {"\"a\nb\"", PCOL_E_SYNTAX, 1, 3, "control character in a string"},
        {"\"a\\x\"", PCOL_E_SYNTAX, 1, 3, "unknown escape in a string"},
        {"\"a\\u12g4\"", PCOL_E_SYNTAX, 1, 3, "unknown escape in a string"},
        {"\"a\\u12\"", PCOL_E_SYNTAX, 1, 3, "unknown escape in a string"},
        {"01", PCOL_E_SYNTAX, 1, 1, "malformed number"},
        {"-", PCOL_E_SYNTAX, 1, 1, "malformed number"},
        {"+1", PCOL_E_SYNTAX, 1, 1, "malformed number"},
        {".5", PCOL_E_SYNTAX, 1, 1, "malformed number"},
        {"1.", PCOL_E_SYNTAX, 1, 1, "malformed number"},
        {"1e", PCOL_E_SYNTAX, 1, 1, "malformed number"},
        {"1e+", PCOL_E_SYNTAX, 1, 1, "malformed number"},
        {"1.5.5", PCOL_E_SYNTAX, 1, 1, "malformed number"},
        {"0x10", PCOL_E_SYNTAX, 1, 1, "malformed number"},
        {"1-2", PCOL_E_SYNTAX, 1, 1, "malformed number"},
        {"nul", PCOL_E_SYNTAX, 1, 1, "unknown word 'nul'"},
        {"nullx", PCOL_E_SYNTAX, 1, 1, "unknown word 'nullx'"},
        {"NaN", PCOL_E_SYNTAX, 1, 1, "unknown word 'NaN'"},
        {"[-Infinity]", PCOL_E_SYNTAX, 1, 2, "malformed number"},
        {"'a'", PCOL_E_SYNTAX, 1, 1, "unexpected character"},
        {"/* */ 1", PCOL_E_SYNTAX, 1, 1, "unexpected character"},
        {"[1,\n  2,\n  x]", PCOL_E_SYNTAX, 3, 3, "unknown word 'x'"},
        {"[[[[[[[[[", PCOL_E_LIMIT, 1, 9, "nested deeper than 8 levels"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++) {
            struct reading r = {0};
            pcol_error err = {0};
            const char *text = cases[i].text;
            cr_assert_eq(tokens(text, strlen(text), 0, pieces[p], &r, &err), cases[i].status,
                         "%s: %s", text, err.message);
            cr_assert_str_eq(err.message, cases[i].message, "%s: %s", text, err.message);
            cr_assert(err.line == cases[i].line && err.text_column == cases[i].column,
                      "%s: at %" PRIu64 ":%" PRIu64, text, err.line, err.text_column);
            free(r.out);
        }
    }
}

Test(json_read, depth_costs_no_stack)
{
    enum { DEPTH = 1000000 };
    struct pci_input input;
    struct pci_json json;
    struct pci_json_options options = {.max_depth = DEPTH};
    char *text = malloc(2 * DEPTH);
    cr_assert_not_null(text);
    memset(text, '[', DEPTH);
    memset(text + DEPTH, ']', DEPTH);
    cr_assert_eq(pci_input_open_memory(&input, text, 2 * DEPTH, "", NULL, NULL), PCOL_OK);
    cr_assert_eq(pci_json_open(&json, &input, &options, NULL), PCOL_OK);
    cr_assert_eq(pci_json_next(&json, NULL), PCOL_OK);
    cr_assert_eq(pci_json_skip(&json, NULL), PCOL_OK);
    cr_assert_eq(json.type, PCI_JSON_ARRAY_END);
    cr_assert_eq(json.column, 2 * DEPTH);
    cr_assert_eq(pci_json_finish(&json, NULL), PCOL_OK);
    pci_json_close(&json);
    cr_assert_eq(pci_json_open(&json, &input, NULL, NULL), PCOL_OK);
    pci_json_close(&json);
    pci_input_close(&input);
    free(text);
}

Test(json_read, members_and_elements)
{
    static const char text[] = "{\"skip\":{\"a\":[1,{}]},\"rows\":[10,[],30],\"last\":true}";
    struct pci_input input;
    struct pci_json json;
    int more, seen = 0;
    pcol_error err;
    cr_assert_eq(pci_input_open_memory(&input, text, sizeof text - 1, "", NULL, NULL), PCOL_OK);
    cr_assert_eq(pci_json_open(&json, &input, NULL, NULL), PCOL_OK);
    cr_assert_eq(pci_json_next(&json, NULL), PCOL_OK);
    while (pci_json_member(&json, &more, NULL) == PCOL_OK && more) {
        if (pci_json_is(&json, "rows")) {
            cr_assert_eq(pci_json_next(&json, NULL), PCOL_OK);
            while (pci_json_element(&json, &more, NULL) == PCOL_OK && more) {
                cr_assert_eq(pci_json_skip(&json, NULL), PCOL_OK);
                seen++;
            }
        } else {
            cr_assert_eq(pci_json_skip_member(&json, NULL), PCOL_OK);
        }
    }
    cr_assert_eq(seen, 3);
    cr_assert_eq(json.type, PCI_JSON_OBJECT_END);
    cr_assert_eq(pci_json_expect(&json, PCI_JSON_STRING, "the name", &err), PCOL_E_SYNTAX);
    cr_assert_str_eq(err.message, "the name must be a string, not the end of an object");
    pci_json_close(&json);
    pci_input_close(&input);
}

/* ---- numbers */

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void expect_number(const char *text)
{
    char scratch[128];
    double expected = strtod(text, NULL), got = pci_number_parse(text, strlen(text), scratch);
    cr_assert_arr_eq(&got, &expected, sizeof got, "%s: %a, not %a", text, got, expected);
}

Test(number, nearest_double)
{
    char text[96];
    static const char *const cases[] = {"0",
                                        "-0",
                                        "0.0",
                                        "-0.0e5",
                                        "1",
                                        "9007199254740993",
                                        "9007199254740992.5",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "1e19",
                                        "1e-19",
                                        "1e22",
                                        "1e23",
                                        "1e-23",
                                        "1.7976931348623157e308",
                                        "1.7976931348623159e308",
                                        "4.9e-324",
                                        "2.4e-324",
                                        "2.2250738585072011e-308",
                                        "0.000000000000000000000000000000000000001e39",
                                        "123456789012345678901234567890e-30",
                                        "1e99999",
                                        "1e-99999",
                                        "8.5891349871298343712983471e12",
                                        "0.1",
                                        "5e-5",
                                        "179769313486231580793e289"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_number(cases[i]);
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = next_random();
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) {
            snprintf(text, sizeof text, "%.*g", (int)(next_random() % 20 + 1), value);
            expect_number(text);
        }
        snprintf(text, sizeof text, "%" PRIu64 ".%" PRIu64 "e%d", bits >> (bits % 64),
                 next_random() % 100000, (int)(next_random() % 50) - 25);
        expect_number(text);
        /* Half-way between two doubles: ties go to even. */
        uint64_t odd = ((bits >> 11) | UINT64_C(1) << 52) * 2 + 1;
        snprintf(text, sizeof text, "%" PRIu64, odd);
        expect_number(text);
    }
}

/* All numbers of an array: in runs as far as they go, the others by tokens. */
static void read_numbers(const char *text, double *numbers, enum pci_json_type *types, size_t count,
                         uint64_t *line)
{
    struct pci_input input;
    struct pci_json json;
    size_t n = 0, got;
    int more;
    const struct pci_json_options options = {.flags = PCI_JSON_SOUND};
    cr_assert_eq(pci_input_open_memory(&input, text, strlen(text), "", NULL, NULL), PCOL_OK);
    cr_assert_eq(pci_json_open(&json, &input, &options, NULL), PCOL_OK);
    cr_assert_eq(pci_json_next(&json, NULL), PCOL_OK);
    for (;;) {
        int64_t values[5];
        uint8_t kinds[5];
        unsigned seen = pci_json_read_numbers(&json, values, kinds, 5, &got), expected = 0;
        cr_assert(n + got <= count);
        for (size_t i = 0; i < got; i++, n++) {
            expected |= 1u << kinds[i];
            types[n] = kinds[i];
            numbers[n] = (double)values[i];
            if (kinds[i] == PCI_JSON_DOUBLE)
                memcpy(&numbers[n], &values[i], 8);
        }
        cr_assert_eq(seen, expected);
        if (got == 5)
            continue;
        cr_assert_eq(pci_json_element(&json, &more, NULL), PCOL_OK);
        if (!more)
            break;
        cr_assert(n < count);
        types[n] = json.type;
        numbers[n++] = json.type == PCI_JSON_NULL ? 0 : json.number;
    }
    cr_assert_eq(n, count);
    *line = json.line;
    pci_json_close(&json);
    pci_input_close(&input);
}

Test(json_run, same_as_tokens)
{
    static const char *const texts[] = {"0",
                                        "-0",
                                        "-0.0",
                                        "7",
                                        "-7",
                                        "12345678",
                                        "null",
                                        "1e3",
                                        "123456789",
                                        "1234567812",
                                        "0.1",
                                        "-0.5",
                                        "100.5",
                                        "1e-7",
                                        "1.5E+2",
                                        "0.00001",
                                        "12345678.12",
                                        "1234567.12345678",
                                        "-1",
                                        "1.0",
                                        "4294967296",
                                        "0.30000000000000004",
                                        "1234.5678910000001",
                                        "99999999999999.99",
                                        "9007199254740993",
                                        "-9223372036854775808",
                                        "1152921504606846977",
                                        "0.1234567890123456789",
                                        "12345678.1234567812345678",
                                        "5e-324"};
    const size_t kinds = sizeof texts / sizeof texts[0], count = 400;
    static const char *const gaps[] = {"", " ", "\n  ", "\t"};
    char *text = malloc(count * 40 + 200);
    double numbers[400];
    enum pci_json_type types[400];
    uint64_t line, lines = 1;
    size_t at = 0, which[400];
    text[at++] = '[';
    for (size_t i = 0; i < count; i++) {
        const char *gap = gaps[next_random() % 4];
        which[i] = next_random() % kinds;
        lines += gap[0] == '\n';
        at += (size_t)sprintf(text + at, "%s%s%s", i ? "," : "", gap, texts[which[i]]);
    }
    memset(text + at, ' ', 100); /* so that runs go on to the end */
    text[at] = ']';
    text[at + 100] = 0;
    read_numbers(text, numbers, types, count, &line);
    for (size_t i = 0; i < count; i++) {
        const char *t = texts[which[i]];
        double expected = strcmp(t, "null") && strcmp(t, "-0") ? strtod(t, NULL) : 0;
        int integer = t[strspn(t, "-0123456789")] == 0;
        cr_assert_arr_eq(&numbers[i], &expected, 8, "%s: %a", t, numbers[i]);
        cr_assert_eq(types[i], !strcmp(t, "null") ? PCI_JSON_NULL
                               : integer          ? PCI_JSON_INT
                                                  : PCI_JSON_DOUBLE);
    }
    cr_assert_eq(line, lines);
    free(text);
}

Test(json_run, nearest_doubles)
{
    char *text = malloc(200 * 32 + 200), number[200][32];
    for (int turn = 0; turn < 300; turn++) {
        double numbers[200];
        enum pci_json_type types[200];
        uint64_t line;
        size_t at = (size_t)sprintf(text, "[");
        for (size_t i = 0; i < 200; i++) {
            unsigned places = 1 + (unsigned)(next_random() % 13);
            snprintf(number[i], sizeof number[i], "%.*f", (int)places,
                     (double)(next_random() % 1000000000000000) / 1e9);
            at += (size_t)sprintf(text + at, "%s%s", i ? "," : "", number[i]);
        }
        sprintf(text + at, "]%100s", "");
        read_numbers(text, numbers, types, 200, &line);
        for (size_t i = 0; i < 200; i++) {
            double expected = strtod(number[i], NULL);
            cr_assert_arr_eq(&numbers[i], &expected, 8, "%s: %a", number[i], numbers[i]);
        }
    }
    free(text);
}

Test(number, shortest_text)
{
    char text[PCI_NUMBER_SIZE];
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {1, "1"},
                 {-0.0, "-0"},
                 {1e23, "1e+23"},
                 {5e-324, "5e-324"},
                 {0.30000000000000004, "0.30000000000000004"},
                 {1.0 / 3, "0.3333333333333333"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_assert_eq(pci_number_format(cases[i].value, text), strlen(cases[i].text));
        cr_assert_str_eq(text, cases[i].text);
    }
    for (int i = 0; i < 50000; i++) {
        uint64_t bits = next_random();
        double value, back;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        pci_number_format(value, text);
        back = strtod(text, NULL);
        cr_assert_arr_eq(&back, &value, sizeof value, "%s", text);
    }
}

Test(number, another_locale_changes_nothing)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};
    char text[PCI_NUMBER_SIZE], scratch[64];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_ALL, names[i]))
            break;
    static const char slow[] = "1.2345678901234567890123";
    cr_assert_float_eq(pci_number_parse(slow, strlen(slow), scratch), 1.2345678901234568, 1e-15);
    pci_number_format(0.5, text);
    cr_assert_str_eq(text, "0.5");
    setlocale(LC_ALL, "C");
}

/* ---- writing */

static pcol_status gather(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)err;
    record(context, data, size);
    return PCOL_OK;
}

static void put_sample(struct pci_json_writer *w)
{
    pci_json_put_begin(w, '{', NULL);
    pci_json_put_key(w, "a", NULL);
    pci_json_put_begin(w, '[', NULL);
    pci_json_put_int(w, INT64_MIN, NULL);
    pci_json_put_int(w, 0, NULL);
    pci_json_put_begin(w, '{', NULL);
    pci_json_put_end(w, '}', NULL);
    pci_json_put_raw(w, "null", 4, NULL);
    pci_json_put_end(w, ']', NULL);
    pci_json_put_newline(w);
    pci_json_put_key(w, "b\n", NULL);
    pci_json_put_double(w, 2, NULL);
    pci_json_put_key(w, "c", NULL);
    pci_json_put_double(w, -(double)INFINITY, NULL);
    pci_json_put_newline(w);
    pci_json_put_end(w, '}', NULL);
}

Test(json_write, punctuation)
{
    static const struct {
        unsigned flags;
        const char *text;
    } cases[] = {
        {0, "{\"a\":[-9223372036854775808,0,{},null],\n\"b\\n\":2,\"c\":\"-Infinity\"\n}\n"},
        {PCI_JSON_POINT | PCI_JSON_BARE_NONFINITE,
         "{\"a\":[-9223372036854775808,0,{},null],\n\"b\\n\":2.0,\"c\":-Infinity\n}\n"}};
    for (size_t i = 0; i < 2; i++) {
        struct reading r = {0};
        struct pci_json_writer w;
        pcol_sink sink = {gather, &r};
        cr_assert_eq(pci_json_writer_open(&w, sink, cases[i].flags, NULL), PCOL_OK);
        put_sample(&w);
        cr_assert_eq(pci_json_writer_finish(&w, NULL), PCOL_OK);
        pci_json_writer_close(&w);
        cr_assert_str_eq(r.out, cases[i].text);
        free(r.out);
    }
}

static char *quote(const char *data, size_t size, unsigned flags)
{
    struct reading r = {0};
    struct pci_json_writer w;
    pcol_sink sink = {gather, &r};
    cr_assert_eq(pci_json_writer_open(&w, sink, flags, NULL), PCOL_OK);
    pci_json_put_string(&w, (pcol_str){data, size}, NULL);
    cr_assert_eq(pci_json_writer_finish(&w, NULL), PCOL_OK);
    pci_json_writer_close(&w);
    return r.out;
}

Test(json_write, escapes)
{
    static const struct {
        const char *data;
        size_t size;
        unsigned flags;
        const char *text;
    } cases[] = {
        {"", 0, 0, "\"\"\n"},
        {"a\"b\\c/", 6, 0, "\"a\\\"b\\\\c/\"\n"},
        {"\0\x01\b\f\n\r\t\x7f", 8, 0, "\"\\u0000\\u0001\\b\\f\\n\\r\\t\\u007f\"\n"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, 0,
         "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"\n"},
        {"\x80\xff", 2, 0, "\"\\udc80\\udcff\"\n"},
        {"\xc3", 1, 0, "\"\\udcc3\"\n"},
        {"\xc0\x80", 2, 0, "\"\\udcc0\\udc80\"\n"},
        {"\xe2\x82", 2, 0, "\"\\udce2\\udc82\"\n"},
        {"\xe0\x80\x80", 3, 0, "\"\\udce0\\udc80\\udc80\"\n"},
        {"\xf4\x90\x80\x80", 4, 0, "\"\\udcf4\\udc90\\udc80\\udc80\"\n"},
        {"\xed\xa0\x80", 3, 0, "\"\\udced\\udca0\\udc80\"\n"},
        {"\xed\xa0\x80", 3, PCI_JSON_WTF8, "\"\\ud800\"\n"},
        {"x\xed\xbf\xbfy", 5, PCI_JSON_WTF8, "\"x\\udfffy\"\n"},
        {"x\xff\xed\xa0\x80\xc3\xa9", 7, PCI_JSON_REPLACE,
         "\"x\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\"\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = quote(cases[i].data, cases[i].size, cases[i].flags);
        cr_assert_str_eq(text, cases[i].text);
        free(text);
    }
}

/* Every pair of bytes comes back. */
Test(json_write, bytes_come_back)
{
    char data[3] = {0};
    for (int a = 0; a < 256; a++) {
        for (int b = 0; b < 256; b++) {
            struct pci_input input;
            struct pci_json json;
            struct pci_json_options options = {.flags = PCI_JSON_SURROGATE_BYTES};
            data[0] = (char)a;
            data[1] = (char)b;
            char *text = quote(data, 2, 0);
            cr_assert_eq(pci_input_open_memory(&input, text, strlen(text), "", NULL, NULL),
                         PCOL_OK);
            cr_assert_eq(pci_json_open(&json, &input, &options, NULL), PCOL_OK);
            cr_assert_eq(pci_json_next(&json, NULL), PCOL_OK);
            cr_assert_eq(json.text.size, 2);
            cr_assert_arr_eq(json.text.data, data, 2);
            pci_json_close(&json);
            pci_input_close(&input);
            free(text);
        }
    }
}

static pcol_status refuse(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)data;
    (void)size;
    ++*(int *)context;
    return pci_fail(err, PCOL_E_IO, "full");
}

Test(json_write, first_error_stays)
{
    struct pci_json_writer w;
    pcol_error err = {0};
    int calls = 0;
    pcol_sink sink = {refuse, &calls};
    cr_assert_eq(pci_json_writer_open(&w, sink, 0, NULL), PCOL_OK);
    pci_json_put_begin(&w, '[', &err);
    for (int i = 0; i < 100000; i++)
        pci_json_put_int(&w, i, &err);
    cr_assert_eq(w.status, PCOL_E_IO);
    cr_assert_eq(pci_json_writer_finish(&w, &err), PCOL_E_IO);
    cr_assert_str_eq(err.message, "full");
    cr_assert_eq(calls, 1);
    pci_json_writer_close(&w);
}

/* ---- values that a file has as text */

Test(json_read, texts_of_values)
{
    static const char *const values[] = {"1",     "-0", "1.50e3",         "null",
                                         "\"a\"", "[]", "{\"a\":[1,{}]}", " [1, 2]\n"};
    static const char *const others[] = {"",  " ",   "1,2", "1]",           "[", "[1", "{\"a\"}",
                                         "x", "007", "\"a", "\357\273\2771"};
    pcol_error err;
    int is_value;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        pcol_str text = {values[i], strlen(values[i])};
        cr_assert_eq(pci_json_is_value(text, &is_value, &err), PCOL_OK);
        cr_assert(is_value, "%s", values[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        pcol_str text = {others[i], strlen(others[i])};
        cr_assert_eq(pci_json_is_value(text, &is_value, &err), PCOL_OK);
        cr_assert(!is_value, "%s", others[i]);
    }
}
