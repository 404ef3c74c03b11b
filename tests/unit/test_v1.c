/*
 * test_v1.c - the five tables of data model v1 as JSON, and merging pcol files
 */
#include <criterion/criterion.h>

#include "pcol.h"
#include "util/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define META "\"meta\":[{\"key\":\"version\",\"value\":\"1.0\"}]"
#define TYPES "\"sample_types\":[{\"type\":\"samples\",\"unit\":\"count\"}]"
#define NO_SAMPLES "\"samples\":[]"
#define NO_LOCATIONS "\"locations\":[]"
#define NO_FUNCTIONS "\"functions\":[]"

struct text {
    char *data;
    size_t size, capacity;
};

static pcol_status gather(void *context, const void *data, size_t size, pcol_error *err)
{
    struct text *t = context;
    (void)err;
    if (t->size + size + 1 > t->capacity) {
        t->capacity = 2 * (t->size + size + 1);
        t->data = realloc(t->data, t->capacity);
        cr_assert_not_null(t->data);
    }
    memcpy(t->data + t->size, data, size);
    t->size += size;
    t->data[t->size] = 0;
    return PCOL_OK;
}

static void note(void *context, const pcol_notice *notice)
{
    snprintf(context, 256, "%s", notice->text);
}

/* Pack texts, one source each, into memory. */
static pcol_status pack(const char *const *texts, const size_t *sizes, size_t count, unsigned flags,
                        struct text *packed, char *message, pcol_error *err)
{
    pcol_builder *builder;
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    char ignored[256];
    pcol_control control = {sizeof control, message ? message : ignored, NULL, note};
    options.control = &control;
    pcol_status status = pcol_builder_new(NULL, &builder, err);
    for (size_t i = 0; status == PCOL_OK && i < count; i++)
        status = pcol_import_memory(builder, texts[i], sizes[i], "in", &options, err);
    if (status == PCOL_OK)
        status = pcol_builder_write(builder, flags, NULL, (pcol_sink){gather, packed}, err);
    pcol_builder_free(builder);
    return status;
}

static pcol_status unpack(const struct text *packed, const char *format, uint64_t source,
                          struct text *out, pcol_error *err)
{
    pcol_file *file;
    pcol_export_options options = PCOL_INIT(pcol_export_options);
    options.source_id = source;
    pcol_status status = pcol_file_open_memory(packed->data, packed->size, NULL, &file, err);
    if (status != PCOL_OK)
        return status;
    status = pcol_export(file, format, &options, (pcol_sink){gather, out}, err);
    pcol_file_close(file);
    return status;
}

static void expect_round_trip(const char *text, const char *expected)
{
    struct text packed = {0}, out = {0};
    pcol_error err = {0};
    size_t size = strlen(text);
    cr_assert_eq(pack(&text, &size, 1, 0, &packed, NULL, &err), PCOL_OK, "%s", err.message);
    cr_assert_eq(unpack(&packed, "v1", 0, &out, &err), PCOL_OK, "%s", err.message);
    cr_assert_str_eq(out.data, expected);
    free(packed.data);
    free(out.data);
}

static const char whole[] =
    "{\n\"meta\":[\n{\"key\":\"version\",\"value\":\"1.0\"}],\n"
    "\"sample_types\":[\n{\"type\":\"samples\",\"unit\":\"count\"}],\n"
    "\"samples\":[\n{\"value\":1,\"locations\":[3,1]},\n{\"value\":1,\"locations\":[1]},\n"
    "{\"value\":1,\"locations\":[3,1]},\n{\"value\":1,\"locations\":[2,2,4]}],\n"
    "\"locations\":[\n{\"location_id\":1,\"function_id\":2,\"line\":0},\n"
    "{\"location_id\":2,\"function_id\":1,\"line\":7},\n"
    "{\"location_id\":3,\"function_id\":1,\"line\":5},\n"
    "{\"location_id\":4,\"function_id\":3,\"line\":9}],\n\"functions\":[\n"
    "{\"function_id\":1,\"name\":\"a_b\",\"system_name\":\"a.b\",\"filename\":\"x.R\",\"start_"
    "line\":5},\n"
    "{\"function_id\":2,\"name\":\"f\",\"system_name\":\"f\",\"filename\":\"\",\"start_line\":0},\n"
    "{\"function_id\":3,\"name\":\"\\udc80\\u0000\",\"system_name\":\"g\",\"filename\":\"\","
    "\"start_line\":0}]\n}\n";

Test(v1, comes_back)
{
    expect_round_trip(whole, whole);
    static const char empty[] =
        "{\n\"meta\":[\n{\"key\":\"version\",\"value\":\"1.0\"}],\n\"sample_types\":[\n"
        "{\"type\":\"samples\",\"unit\":\"count\"}],\n\"samples\":[],\n\"locations\":[],\n"
        "\"functions\":[]\n}\n";
    expect_round_trip("{" NO_SAMPLES "," META "," TYPES "," NO_LOCATIONS "," NO_FUNCTIONS "}",
                      empty);
}

/* Other order of tables and columns, ids that are not dense, equal rows, values above 1. */
Test(v1, comes_back_in_dense_ids)
{
    expect_round_trip(
        " {\"functions\" : [ {\"start_line\":4.0,\"filename\":\"\",\"name\":\"f\",\"system_name\":"
        "\"f\",\"function_id\":-7}, {\"function_id\":1e3,\"name\":\"f\",\"system_name\":\"f\","
        "\"filename\":\"\",\"start_line\":4} ],\"samples\":[{\"locations\":[70,50],\"value\":2}],"
        "\"locations\":[{\"function_id\":-7,\"location_id\":50,\"line\":0,\".extra\":[{}]},"
        "{\"function_id\":-7,\"location_id\":60,\"line\":0},"
        "{\"function_id\":1000,\"location_id\":70,\"line\":0}]," META "," TYPES ",\".more\":1}",
        "{\n\"meta\":[\n{\"key\":\"version\",\"value\":\"1.0\"}],\n\"sample_types\":[\n"
        "{\"type\":\"samples\",\"unit\":\"count\"}],\n\"samples\":[\n"
        "{\"value\":1,\"locations\":[3,1]},\n{\"value\":1,\"locations\":[3,1]}],\n\"locations\":[\n"
        "{\"location_id\":1,\"function_id\":1,\"line\":0},\n"
        "{\"location_id\":2,\"function_id\":1,\"line\":0},\n"
        "{\"location_id\":3,\"function_id\":2,\"line\":0}],\n\"functions\":[\n"
        "{\"function_id\":1,\"name\":\"f\",\"system_name\":\"f\",\"filename\":\"\",\"start_line\":"
        "4},\n"
        "{\"function_id\":2,\"name\":\"f\",\"system_name\":\"f\",\"filename\":\"\","
        "\"start_line\":4}]\n}\n");
}

#define WITH(samples, locations, functions)                                       \
    "{" META "," TYPES ",\n\"samples\":[" samples "],\n\"locations\":[" locations \
    "],\n\"functions\":[" functions "]}"
#define L1 "{\"location_id\":1,\"function_id\":1,\"line\":0}"
#define F1 \
    "{\"function_id\":1,\"name\":\"f\",\"system_name\":\"f\",\"filename\":\"\",\"start_line\":0}"
#define S1 "{\"value\":1,\"locations\":[1]}"

Test(v1, every_rule)
{
    static const struct {
        const char *text;
        pcol_status status;
        uint64_t line, column;
        const char *message;
    } cases[] = {
        {"[]", PCOL_E_SYNTAX, 1, 1, "the profile must be an object, not an array"},
        {"{\"a\":[]}", PCOL_E_SYNTAX, 1, 2, "unknown table 'a'"},
        {"{" META "}", PCOL_E_SYNTAX, 1, 42, "table sample_types is missing"},
        {"{" META "," META "}", PCOL_E_SYNTAX, 1, 43, "table meta occurs twice"},
        {"{\"meta\":{}}", PCOL_E_SYNTAX, 1, 9, "meta must be an array, not an object"},
        {"{\"meta\":[]}", PCOL_E_SYNTAX, 1, 10, "meta must have one row"},
        {"{\"meta\":[{\"key\":\"version\",\"value\":\"1.0\"},{}]}", PCOL_E_SYNTAX, 1, 42,
         "meta must have one row"},
        {"{\"meta\":[{\"key\":\"version\",\"value\":\"2.0\"}]}", PCOL_E_SYNTAX, 1, 35,
         "meta, row 1: value must be '1.0', not '2.0'"},
        {"{\"sample_types\":[{\"type\":\"cpu\"}]}", PCOL_E_SYNTAX, 1, 26,
         "sample_types, row 1: type must be 'samples', not 'cpu'"},
        {"{\"samples\":[7]}", PCOL_E_SYNTAX, 1, 13,
         "samples, row 1 must be an object, not an integer"},
        {"{\"samples\":[{\"value\":1}]}", PCOL_E_SYNTAX, 1, 23,
         "samples, row 1: locations is missing"},
        {"{\"samples\":[{\"value\":1,\"value\":1}]}", PCOL_E_SYNTAX, 1, 24,
         "samples, row 1: value occurs twice"},
        {"{\"samples\":[{\"weight\":1}]}", PCOL_E_SYNTAX, 1, 14,
         "samples, row 1: unknown column 'weight'"},
        {"{\"samples\":[{\"value\":0}]}", PCOL_E_SYNTAX, 1, 22,
         "samples, row 1: value must be from 1 to 2147483647"},
        {"{\"samples\":[{\"value\":-1}]}", PCOL_E_SYNTAX, 1, 22,
         "samples, row 1: value must be from 1 to 2147483647"},
        {"{\"samples\":[{\"value\":2147483648}]}", PCOL_E_SYNTAX, 1, 22,
         "samples, row 1: value must be from 1 to 2147483647"},
        {"{\"samples\":[{\"value\":1.5}]}", PCOL_E_SYNTAX, 1, 22,
         "samples, row 1: value must be an integer, not a number"},
        {"{\"samples\":[{\"value\":\"1\"}]}", PCOL_E_SYNTAX, 1, 22,
         "samples, row 1: value must be an integer, not a string"},
        {"{\"samples\":[{\"locations\":[1,null]}]}", PCOL_E_SYNTAX, 1, 29,
         "samples, row 1: locations must be an integer, not null"},
        {"{\"locations\":[{\"line\":-1}]}", PCOL_E_SYNTAX, 1, 23,
         "locations, row 1: line must not be negative"},
        {"{\"functions\":[{\"name\":\"\"}]}", PCOL_E_SYNTAX, 1, 23,
         "functions, row 1: name must not be empty"},
        {"{\"functions\":[{\"filename\":null}]}", PCOL_E_SYNTAX, 1, 27,
         "functions, row 1: filename must be a string, not null"},
        {"{\"functions\":[{\"name\":\"\\ud800\"}]}", PCOL_E_SYNTAX, 1, 23,
         "functions, row 1: name has half of a surrogate pair"},
        {"{\"functions\":[{\"start_line\":-5}]}", PCOL_E_SYNTAX, 1, 29,
         "functions, row 1: start_line must not be negative"},
        {"{\"functions\":[" F1 ",\n" F1 "]}", PCOL_E_SYNTAX, 2, 16,
         "functions, row 2: function_id 1 is not unique"},
        {"{\"locations\":[" L1 ",\n" L1 "]}", PCOL_E_SYNTAX, 2, 16,
         "locations, row 2: location_id 1 is not unique"},
        {WITH(S1, "", F1), PCOL_E_SYNTAX, 2, 36, "samples: 1 names no location"},
        {WITH(S1, L1, ""), PCOL_E_SYNTAX, 3, 45,
         "locations, row 1: function_id 1 names no function"},
        {WITH(S1, L1, F1) "]", PCOL_E_SYNTAX, 4, 91, "text after the end of the value"},
        {"{\"samples\":[" S1, PCOL_E_SYNTAX, 1, 40, "input ends inside an array"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text packed = {0};
        pcol_error err = {0};
        const char *text = cases[i].text;
        size_t size = strlen(text);
        pcol_builder *builder;
        pcol_import_options options = PCOL_INIT(pcol_import_options);
        options.format = "v1";
        cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
        pcol_status status = pcol_import_memory(builder, text, size, "in", &options, &err);
        pcol_builder_free(builder);
        cr_assert_str_eq(err.message, cases[i].message, "%s: %s", text, err.message);
        cr_assert_eq(status, cases[i].status, "%s", text);
        cr_assert(err.line == cases[i].line && err.text_column == cases[i].column, "%s: at %lu:%lu",
                  text, (unsigned long)err.line, (unsigned long)err.text_column);
        free(packed.data);
    }
}

Test(v1, every_prefix_is_refused)
{
    pcol_error err;
    for (size_t size = 20; size + 2 < sizeof whole; size++) {
        struct text packed = {0};
        const char *text = whole;
        cr_assert_eq(pack(&text, &size, 1, 0, &packed, NULL, &err), PCOL_E_SYNTAX, "%zu", size);
        free(packed.data);
    }
}

/* ---- a pcol file as an input */

static void expect_same(const struct text *a, const struct text *b)
{
    cr_assert_eq(a->size, b->size);
    cr_assert_arr_eq(a->data, b->data, a->size);
}

Test(merge, files_come_out_as_they_were)
{
    static const char rprof[] =
        "memory profiling: sample.interval=20000\n"
        ":1:2:3:4:\"f\" \"g\" \n:5:6:7:8:\n:1:2:3:4:\"<GC>\" \"f\" \"g\" \n";
    static const char lines[] = "line profiling: sample.interval=10000\n#File 1: a.R\n"
                                "1#3 \"h\" 1#2 \"g\" \n1#9 \n";
    static const char log[] = "264 :\"f\" \"g\" \nnew page:\"g\" \n";
    const char *texts[] = {rprof, lines, log, rprof};
    size_t sizes[] = {sizeof rprof - 1, sizeof lines - 1, sizeof log - 1, sizeof rprof - 1};
    struct text parts[4] = {{0}}, all = {0}, merged = {0}, again = {0}, plain = {0}, back = {0};
    const char *packed[4];
    size_t packed_sizes[4];
    pcol_error err = {0};
    for (size_t i = 0; i < 4; i++) {
        cr_assert_eq(pack(&texts[i], &sizes[i], 1, 0, &parts[i], NULL, &err), PCOL_OK, "%s",
                     err.message);
        packed[i] = parts[i].data;
        packed_sizes[i] = parts[i].size;
    }
    cr_assert_eq(pack(texts, sizes, 4, 0, &all, NULL, &err), PCOL_OK);
    cr_assert_eq(pack(packed, packed_sizes, 4, 0, &merged, NULL, &err), PCOL_OK, "%s", err.message);
    expect_same(&all, &merged);
    const char *one = all.data;
    cr_assert_eq(pack(&one, &all.size, 1, 0, &again, NULL, &err), PCOL_OK);
    expect_same(&all, &again);
    cr_assert_eq(pack(&one, &all.size, 1, PCOL_WRITE_PLAIN, &plain, NULL, &err), PCOL_OK);
    one = plain.data;
    cr_assert_eq(pack(&one, &plain.size, 1, 0, &back, NULL, &err), PCOL_OK);
    expect_same(&all, &back);
    for (size_t i = 0; i < 4; i++) {
        struct text out = {0};
        cr_assert_eq(unpack(&merged, i == 2 ? "rprofmem" : "rprof", i + 1, &out, &err), PCOL_OK,
                     "%s", err.message);
        cr_assert_str_eq(out.data, texts[i]);
        free(out.data);
        free(parts[i].data);
    }
    free(all.data);
    free(merged.data);
    free(again.data);
    free(plain.data);
    free(back.data);
}

Test(merge, one_source_of_several)
{
    static const char rprof[] = "sample.interval=20000\n\"x\" \"g\" \n";
    const char *texts[] = {rprof, whole};
    size_t sizes[] = {sizeof rprof - 1, sizeof whole - 1};
    struct text all = {0}, out = {0};
    pcol_error err = {0};
    cr_assert_eq(pack(texts, sizes, 2, 0, &all, NULL, &err), PCOL_OK);
    cr_assert_eq(unpack(&all, "v1", 3, &out, &err), PCOL_E_NOT_FOUND);
    cr_assert_str_eq(err.message, "there is no source 3: the file has 2");
    cr_assert_eq(unpack(&all, "nosuch", 1, &out, &err), PCOL_E_NOT_FOUND);
    cr_assert_eq(unpack(&all, "pcol", 1, &out, &err), PCOL_E_NOT_FOUND);
    cr_assert_eq(unpack(&all, "v1", 2, &out, &err), PCOL_OK, "%s", err.message);
    cr_assert_str_eq(out.data, whole);
    free(out.data);
    free(all.data);
}

/* Whatever byte of an input is changed: an error or a file, never a crash. */
Test(merge, damaged_input)
{
    struct text packed = {0};
    const char *text = whole;
    size_t size = sizeof whole - 1;
    pcol_error err;
    cr_assert_eq(pack(&text, &size, 1, 0, &packed, NULL, &err), PCOL_OK);
    for (size_t i = 0; i < packed.size; i++) {
        struct text out = {0};
        char *copy = malloc(packed.size);
        const char *damaged = copy;
        memcpy(copy, packed.data, packed.size);
        copy[i] = (char)(copy[i] ^ 1 << i % 8);
        pcol_status status = pack(&damaged, &packed.size, 1, 0, &out, NULL, &err);
        if (status == PCOL_OK) /* a byte that does not affect the copy */
            cr_assert_gt(out.size, 0);
        free(out.data);
        free(copy);
    }
    free(packed.data);
}

static int failing; /* which allocation fails, counted down */

static int fail_one(void)
{
    return failing-- == 0;
}

Test(v1, no_memory)
{
    struct text packed = {0};
    const char *text = whole;
    size_t size = sizeof whole - 1;
    pcol_error err;
    for (int round = 0; round < 2; round++) { /* JSON, then the pcol file that it became */
        for (int n = 0;; n++) {
            struct text out = {0};
            failing = n;
            pci_alloc_hook = fail_one;
            pcol_status status = pack(&text, &size, 1, 0, &out, NULL, &err);
            pci_alloc_hook = NULL;
            if (status == PCOL_OK) {
                if (!round)
                    packed = out;
                else
                    free(out.data);
                break;
            }
            free(out.data);
            cr_assert_eq(status, PCOL_E_NO_MEMORY);
            cr_assert_lt(n, 10000);
        }
        text = packed.data;
        size = packed.size;
    }
    free(packed.data);
}
