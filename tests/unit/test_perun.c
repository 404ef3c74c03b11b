/*
 * test_perun.c - Perun profiles: recognition, flat forms of numbers and keys, samples of resources
 */
#include "formats/perun/flat.h"
#include "formats/perun/perun.h"
#include "pcol.h"
#include "pcol_perun.h"
#include "reader/file.h"
#include "util/alloc.h"

#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static int sniff(const char *text)
{
    return pci_perun_sniff((const uint8_t *)text, strlen(text), 1);
}

Test(perun, recognised_by_its_keys)
{
    cr_assert_eq(sniff("{\"resource_type_map\":{}}"), 2);
    cr_assert_eq(sniff(" \n{ \"origin\" : \"x\", \"collector_info\": {}}"), 2);
    cr_assert_eq(sniff("{\"resources\":{\"main#0\":{\"amount\":[1"), 2);
    cr_assert_eq(sniff("{\"snapshots\":[{\"time\":\"0\",\"resources\":[{\"uid\":\"a\""), 2);
    cr_assert_eq(sniff("{\"header\":{\"type\":\"a\",\"units\":{}}"), 2);
    cr_assert_eq(sniff("{\"resources\":[]}"), 1);
    cr_assert_eq(sniff("{\"meta\":{\"resources\":1}}"), 0);
    cr_assert_eq(sniff("{\"text\":\"resource_type_map\",\"a\":[\"collector_info\"]}"), 0);
    cr_assert_eq(sniff("[{\"resource_type_map\":{}}]"), 0);
    cr_assert_eq(sniff("{\"a\\\"resource_type_map\":1}"), 0);
    cr_assert_eq(sniff("resource_type_map"), 0);
    cr_assert_eq(sniff(""), 0);
    cr_assert_eq(sniff("{\"unfinished"), 0);
    cr_assert_eq(sniff("{\"unfinished\\"), 0);
}

Test(perun, recognised_as_an_object_of_the_store)
{
    static const char object[] = "profile memory 9\0{\"a\":1}";
    cr_assert_eq(pci_perun_sniff((const uint8_t *)object, sizeof object - 1, 1), 2);
    cr_assert_eq(sniff("profile memory 9 {}"), 0);
    cr_assert_eq(sniff("profile "), 0);
}

static void is_double(double value, const char *text)
{
    char made[PCI_FLAT_NUMBER];
    size_t size = pci_flat_double(value, made);
    cr_assert(size == strlen(text) && !memcmp(made, text, size), "%.*s is not %s", (int)size, made,
              text);
}

Test(flat, doubles_as_python_writes_them)
{
    is_double(1, "1.0");
    is_double(-0.0, "-0.0");
    is_double(0.1, "0.1");
    is_double(0.0001, "0.0001");
    is_double(0.00001, "1e-05");
    is_double(1.25e-7, "1.25e-07");
    is_double(123456789.0, "123456789.0");
    is_double(1e15, "1000000000000000.0");
    is_double(1e16, "1e+16");
    is_double(12345678901234567890.0, "1.2345678901234567e+19");
    is_double(9007199254740993.0, "9007199254740992.0");
    is_double(1e300, "1e+300");
    is_double(5e-324, "5e-324");
    is_double(-1.5, "-1.5");
    is_double(100.0, "100.0");
    is_double(1.7976931348623157e308, "1.7976931348623157e+308");
    is_double((double)NAN, "nan");
    is_double(-(double)INFINITY, "-inf");
}

static int compare(const char *a, const char *b)
{
    int result = pci_flat_compare((pcol_str){a, strlen(a)}, (pcol_str){b, strlen(b)});
    int other = pci_flat_compare((pcol_str){b, strlen(b)}, (pcol_str){a, strlen(a)});
    cr_assert_eq((result > 0) - (result < 0), (other < 0) - (other > 0), "%s, %s", a, b);
    return (result > 0) - (result < 0);
}

Test(flat, keys_by_their_meaning)
{
    cr_assert_eq(compare("bin", "source"), -1);
    cr_assert_eq(compare("source", "file"), 0);
    cr_assert_eq(compare("package", "module"), -1);
    cr_assert_eq(compare("struct", "func"), -1);
    cr_assert_eq(compare("line", "function"), 1);
    cr_assert_eq(compare("instruction", "line"), 1);
    /* Others by their number: a is 103, so ab is 103104; more digits are more. */
    cr_assert_eq(compare("a", "instruction"), 1);
    cr_assert_eq(compare("a", "b"), -1);
    cr_assert_eq(compare("z", "ab"), -1);
    cr_assert_eq(compare("x:deep", "x"), 1);
    cr_assert_eq(compare("A", "a"), -1);          /* 71 */
    cr_assert_eq(compare("^", "AA"), -1);         /* 100 and 7171 */
    cr_assert_eq(compare("\x01", "function"), 1); /* 7 */
    cr_assert_eq(compare("\x01", "\x02"), -1);
    cr_assert_eq(compare("\xc4\x8d", "d"), 1); /* 275 and 106 */
    cr_assert_eq(compare("\xff", "a"), 1);
    cr_assert_eq(compare("same", "same"), 0);
}

/* ---- samples */

static pcol_file *file_of(const char *text)
{
    pcol_builder *builder;
    pcol_error err;
    pcol_file *file;
    void *data;
    size_t size;
    cr_assert_eq(pcol_builder_new(NULL, &builder, &err), PCOL_OK);
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    options.format = "perun";
    cr_assert_eq(pcol_import_memory(builder, text, strlen(text), "x.perf", &options, &err), PCOL_OK,
                 "%s", err.message);
    cr_assert_eq(pcol_builder_write_memory(builder, 0, NULL, &data, &size, &err), PCOL_OK);
    pcol_builder_free(builder);
    pcol_open_options open = PCOL_INIT(pcol_open_options);
    cr_assert_eq(pcol_file_open_memory(data, size, &open, &file, &err), PCOL_OK);
    return file;
}

static void done(pcol_file *file)
{
    void *data = (void *)(uintptr_t)file->bytes;
    pcol_file_close(file);
    pcol_free(data);
}

/* A trace is a call stack and an amount a value, so queries do not read them as labels. */
Test(perun, label_keys)
{
    static const char text[] =
        "{\"resources\":[{\"amount\":1,\"uid\":\"f\",\"type\":\"memory\","
        "\"subtype\":\"malloc\",\"address\":7,\"trace\":[{\"function\":\"f\"}]},"
        "{\"amount\":1.5,\"address\":\"x\",\"uid\":\"g\",\"type\":\"memory\"}]}";
    static const char *const expected[] = {"address", "subtype", "type", "uid"};
    pcol_file *file = file_of(text);
    pcol_str keys[8];
    size_t count;
    pcol_error err;
    cr_assert_eq(pcol_label_keys(file, NULL, 0, &count, &err), PCOL_OK);
    cr_assert_eq(count, 4);
    memset(keys, 0, sizeof keys);
    cr_assert_eq(pcol_label_keys(file, keys, 3, &count, &err), PCOL_OK);
    cr_assert_eq(count, 4);
    cr_assert_null(keys[3].data);
    cr_assert_eq(pcol_label_keys(file, keys, 8, &count, &err), PCOL_OK);
    for (size_t i = 0; i < 4; i++)
        cr_expect(pci_str_is(keys[i], expected[i]), "%.*s", (int)keys[i].size, keys[i].data);
    done(file);
}

static const pcol_column *column_of(const pcol_file *file, const char *table, const char *name)
{
    const pcol_table *t;
    pcol_error err;
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, table, &t, &err), PCOL_OK, "%s",
                 table);
    return pcol_table_column_by_name(t, name, NULL);
}

static void is_text(const pcol_file *file, const char *table, const char *column, uint64_t row,
                    const char *text)
{
    pcol_str value;
    int valid;
    const pcol_column *c = column_of(file, table, column);
    cr_assert_not_null(c, "%s.%s", table, column);
    cr_assert_eq(pcol_column_str(c, row, &value, &valid, NULL), PCOL_OK);
    cr_assert(valid && value.size == strlen(text) && !memcmp(value.data, text, value.size),
              "%s.%s row %d is %.*s", table, column, (int)row, (int)value.size, value.data);
}

static int64_t cell(const pcol_file *file, const char *table, const char *column, uint64_t row)
{
    int64_t value;
    int valid;
    const pcol_column *c = column_of(file, table, column);
    if (!c)
        return -1;
    cr_assert_eq(pcol_column_i64(c, row, &value, &valid, NULL), PCOL_OK);
    return valid ? value : -1;
}

Test(perun, amounts_by_type_with_units)
{
    pcol_file *file = file_of(
        "{\"resources\":[{\"amount\":1,\"type\":\"memory\",\"subtype\":\"free\"},"
        "{\"amount\":2,\"type\":\"memory\",\"subtype\":\"malloc\"},"
        "{\"amount\":3,\"type\":\"mixed\",\"subtype\":\"time delta\"},"
        "{\"amount\":4,\"type\":\"memory\"},{\"amount\":5},{\"amount\":\"6\"}],"
        "\"header\":{\"type\":\"kind\",\"units\":{\"memory\":\"B\",\"mixed(time delta)\":\"us\","
        "\"kind\":\"k\",\"free\":\"F\"}}}");
    is_text(file, "sample_types", "type", 0, "memory(free)");
    is_text(file, "sample_types", "unit", 0, "F");
    is_text(file, "sample_types", "type", 1, "memory");
    is_text(file, "sample_types", "unit", 1, "B");
    is_text(file, "sample_types", "type", 2, "mixed");
    is_text(file, "sample_types", "unit", 2, "us");
    is_text(file, "sample_types", "type", 3, "kind");
    is_text(file, "sample_types", "unit", 3, "k");
    is_text(file, "sources", "default_sample_type", 0, "memory");
    cr_assert_eq(cell(file, "samples", "value.0", 0), 1);
    cr_assert_eq(cell(file, "samples", "value.1", 1), 2);
    cr_assert_eq(cell(file, "samples", "value.1", 3), 4);
    cr_assert_eq(cell(file, "samples", "value.3", 4), 5);
    cr_assert_eq(cell(file, "samples", "value.3", 5), -1);
    done(file);
}

Test(perun, times_in_seconds)
{
    pcol_file *file =
        file_of("{\"snapshots\":[{\"time\":\"0.025\",\"resources\":[{},{\"time\":2.5},"
                "{\"time\":\"0.6s\"},{\"time\":\"-1\"},{\"time\":1e300}]},"
                "{\"resources\":[{\"time\":3}]}]}");
    static const int64_t times[] = {25000000, INT64_C(2500000000), -1, INT64_C(-1000000000),
                                    -1,       INT64_C(3000000000)};
    for (uint64_t i = 0; i < 6; i++)
        cr_assert_eq(cell(file, "samples", "time", i), times[i], "row %d", (int)i);
    done(file);
}

/* The name of the innermost function of a sample's stack, and the depth. */
static size_t stack_of(const pcol_file *file, uint64_t row, const char *innermost)
{
    uint32_t locations[8];
    size_t depth;
    int64_t stack = cell(file, "samples", "stack", row);
    if (stack < 0)
        return SIZE_MAX;
    cr_assert_eq(pcol_stack_locations(file, (uint64_t)stack, locations, 8, &depth, NULL), PCOL_OK);
    if (depth)
        is_text(file, "functions", "name",
                (uint64_t)cell(file, "locations", "function", locations[0]), innermost);
    return depth;
}

#define TRACES                                                                      \
    "\"resources\":[{\"uid\":\"u\",\"trace\":[{\"func\":\"a\"},{\"func\":\"b\"}]}," \
    "{\"uid\":\"u\",\"trace\":[]},{\"uid\":{\"func\":\"v\"}},{\"trace\":[]},{},{\"trace\":1}]"

Test(perun, stacks_by_collector)
{
    pcol_file *file = file_of("{" TRACES "}");
    cr_assert_eq(stack_of(file, 0, "a"), 2);
    cr_assert_eq(stack_of(file, 1, "u"), 1);
    cr_assert_eq(stack_of(file, 2, "v"), 1);
    cr_assert_eq(stack_of(file, 3, ""), 0);
    cr_assert_eq(stack_of(file, 4, ""), SIZE_MAX);
    cr_assert_eq(stack_of(file, 5, ""), SIZE_MAX);
    done(file);
    /* kperf, named after the resources: outermost first, the uid is the innermost. */
    file = file_of("{" TRACES ",\"collector_info\":{\"name\":\"kperf\"}}");
    cr_assert_eq(stack_of(file, 0, "u"), 3);
    cr_assert_eq(stack_of(file, 1, "u"), 1);
    cr_assert_eq(stack_of(file, 2, "v"), 1);
    cr_assert_eq(stack_of(file, 3, ""), 0);
    done(file);
}

Test(perun, of_names_that_follow_from_uids_the_number_is_stored)
{
    pcol_file *file =
        file_of("{\"resource_type_map\":{\"a#7\":{\"uid\":\"a\"},\"a#4294967294\":{\"uid\":\"a\"},"
                "\"x:2#0\":{\"uid\":{\"line\":2,\"function\":\"x\"}},\"#0\":{\"uid\":\"\"}}}");
    cr_assert_null(column_of(file, "resource_types", "name"));
    done(file);
    static const char *const others[] = {"a#00", "a#", "a#-0", "a#+1", "a#4294967295", "b#0",
                                         "a",    "",   "a#1 ", "#0",   "aa#0"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char json[80];
        snprintf(json, sizeof json, "{\"resource_type_map\":{\"%s\":{\"uid\":\"a\"}}}", others[i]);
        file = file_of(json);
        is_text(file, "resource_types", "name", 0, others[i]);
        done(file);
    }
}

/* ---- memory that runs out */

static int left_to_give;

static int count_down(void)
{
    return left_to_give-- <= 0;
}

static const char whole_profile[] =
    "{\"header\":{\"type\":\"m\",\"units\":{\"m\":\"B\"}},\"resource_type_map\":{\"a#0\":{\"uid\":"
    "{\"function\":\"f\",\"x\":1.5},\"trace\":[{\"func\":\"f\"},{\"func\":\"g\"}],\"o\":{\"k\":[1]}"
    "}},"
    "\"resources\":{\"a#0\":{\"amount\":[1,2.5,null],\"e\":[1]},\"b\":{}},\"models\":[{\"coeffs\":"
    "[{\"name\":\"b0\",\"value\":1}],\"model\":\"linear\",\"x_start\":0,\"x_end\":1,\"uid\":{\"z\":"
    "[]}}],"
    "\"snapshots\":[{\"time\":\"1\",\"resources\":[{\"amount\":3,\"uid\":\"u\",\"trace\":[]}]}]}";

static pcol_status use_blocks(const pcol_file *file, pcol_question question,
                              const pcol_ask_options *ask)
{
    pcol_answer_block block = PCOL_INIT(pcol_answer_block);
    pcol_answers *answers;
    pcol_error err;
    pcol_status status = pcol_ask(file, question, ask, &answers, &err);
    do
        status = status == PCOL_OK ? pcol_answers_block(answers, &block, &err) : status;
    while (status == PCOL_OK && block.rows);
    pcol_answers_free(answers);
    return status;
}

/* All that can be done with a profile; PCOL_OK or the first failure. */
static pcol_status use(int *failed_to_import)
{
    pcol_builder *builder = NULL;
    pcol_file *file = NULL;
    pcol_error err;
    void *data = NULL;
    size_t size;
    *failed_to_import = 1;
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    options.format = "perun";
    pcol_status status = pcol_builder_new(NULL, &builder, &err);
    if (status == PCOL_OK)
        status =
            pcol_import_memory(builder, whole_profile, strlen(whole_profile), "x", &options, &err);
    if (status == PCOL_OK)
        status = pcol_builder_write_memory(builder, 0, NULL, &data, &size, &err);
    pcol_builder_free(builder);
    if (status == PCOL_OK)
        status = pcol_file_open_memory(data, size, NULL, &file, &err);
    *failed_to_import = status != PCOL_OK;
    for (int question = PCOL_ASK_RESOURCES; status == PCOL_OK && question <= PCOL_ASK_PLOT;
         question++) {
        pcol_ask_options ask = PCOL_INIT(pcol_ask_options);
        pcol_answers *answers;
        const pcol_answer *cells = NULL;
        ask.flat = question == PCOL_ASK_MODELS;
        ask.all_rows = 1;
        ask.unique = 1;
        ask.path = "trace::func";
        ask.filter = "all-param";
        status = pcol_ask(file, (pcol_question)question, &ask, &answers, &err);
        do
            status = status == PCOL_OK ? pcol_answers_next(answers, &cells, &err) : status;
        while (status == PCOL_OK && cells);
        pcol_answers_free(answers);
        status = status == PCOL_OK ? use_blocks(file, (pcol_question)question, &ask) : status;
    }
    pcol_file_close(file);
    pcol_free(data);
    return status;
}

Test(perun, every_allocation_may_fail)
{
    int imported = 0;
    for (int n = 0; n < 100000; n++) {
        int failed_to_import;
        left_to_give = n;
        pci_alloc_hook = count_down;
        pcol_status status = use(&failed_to_import);
        pci_alloc_hook = NULL;
        imported += !failed_to_import;
        if (status == PCOL_OK) {
            cr_assert_gt(imported, 10, "questions were asked without memory");
            return;
        }
        cr_assert_eq(status, PCOL_E_NO_MEMORY, "allocation %d: %s", n, pcol_status_name(status));
    }
    cr_assert_fail("it never succeeds");
}
