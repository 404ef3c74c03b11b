/*
 * test_firefox.c - Firefox profiles: recognition, runs of numbers, times, JSLB, failing allocations
 */
#include "formats/firefox/firefox.h"
#include "formats/firefox/schema.h"
#include "formats/firefox/stream.h"
#include "pcol.h"
#include "stream/input_open.h"
#include "testing.h"
#include "util/alloc.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

static int sniff(const char *text)
{
    return pci_firefox_sniff((const uint8_t *)text, strlen(text), 1);
}

Test(firefox, recognised_by_its_keys)
{
    cr_assert_eq(sniff("{\"meta\":{\"preprocessedProfileVersion\":60"), 2);
    cr_assert_eq(sniff("\xef\xbb\xbf {\"threads\":[{\"frameTable\":{"), 2);
    cr_assert_eq(sniff("{\"meta\":{\"processType\":0"), 2);
    cr_assert_eq(sniff("{\"meta\":{}"), 1);
    cr_assert_eq(sniff("{\"origin\":\"x\",\"collector_info\":{}}"), 0);
    cr_assert_eq(sniff("[\"preprocessedProfileVersion\"]"), 0);
    cr_assert_eq(sniff(""), 0);
    cr_assert_eq(pci_jslb_sniff((const uint8_t *)pci_slab_magic, 8, 1), 2);
    cr_assert_eq(pci_jslb_sniff((const uint8_t *)pci_slab_magic, 7, 1), 0);
}

/* ---- runs of numbers give what tokens give */

struct cell {
    enum pci_json_type type;
    int64_t bits;
};

static size_t read_array(const char *text, int runs, struct cell *cells)
{
    struct pci_input input;
    struct pci_json json;
    struct pci_json_options options = {0};
    int more = 1;
    size_t count = 0;
    cr_assert_eq(pci_input_open_memory(&input, text, strlen(text), "", NULL, NULL), PCOL_OK);
    cr_assert_eq(pci_json_open(&json, &input, &options, NULL), PCOL_OK);
    cr_assert_eq(pci_json_next(&json, NULL), PCOL_OK);
    while (more) {
        int64_t values[2];
        uint8_t types[2];
        size_t got = 0;
        if (runs)
            pci_json_read_numbers(&json, values, types, 2, &got);
        for (size_t i = 0; i < got; i++)
            cells[count++] = (struct cell){types[i], values[i]};
        if (got == 2)
            continue;
        if (pci_json_element(&json, &more, NULL) != PCOL_OK) {
            cells[count++] = (struct cell){PCI_JSON_END, 0};
            break;
        }
        if (!more)
            break;
        cells[count] = (struct cell){json.type, json.integer};
        if (json.type == PCI_JSON_DOUBLE)
            memcpy(&cells[count].bits, &json.number, 8);
        else if (json.type != PCI_JSON_INT)
            cells[count].bits = 0;
        count++;
    }
    pci_json_close(&json);
    pci_input_close(&input);
    return count;
}

Test(firefox, runs_of_numbers_are_what_tokens_are)
{
    static const char *const texts[] = {
        "[]",
        "[1]",
        "[1,2,3,4,5]",
        "[1, -2,null , 0.5,1.25e3,-0,0,-0.0,1E2]",
        "[0.1,123456.789012,75091402.591791,0.000001,9007199254740993.5,1234567890.123456789]",
        "[123456789012345678,1234567890123456789,9223372036854775807,9223372036854775808]",
        "[\n1\n,\n2\n]",
        "[1,true,false,\"x\",[],{},2]",
        "[01]",
        "[1.]",
        "[-]",
        "[1,]",
        "[nul]",
        "[null,null,null",
        "[1 2]",
        "[4.35,0.3,2.675,1e400]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct cell plain[32], fast[32];
        size_t count = read_array(texts[i], 0, plain);
        cr_assert_eq(read_array(texts[i], 1, fast), count, "%s", texts[i]);
        for (size_t k = 0; k < count; k++)
            cr_assert(plain[k].type == fast[k].type && plain[k].bits == fast[k].bits, "%s: %zu",
                      texts[i], k);
    }
}

/* ---- times */

Test(firefox, a_time_and_its_distance_give_the_double)
{
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        double ms = (double)(state >> 24) / (double)(1 + (state & 0xffff));
        int64_t ns = (int64_t)(ms * 1e6 + 0.5), bits, near;
        double back = (double)ns / 1e6;
        memcpy(&bits, &ms, 8);
        memcpy(&near, &back, 8);
        double made = pci_ff_ms(ns, bits - near);
        cr_assert(!memcmp(&made, &ms, 8));
    }
    cr_assert(pci_ff_whole(5.0) && pci_ff_whole(-5.0) && pci_ff_whole(0.0));
    cr_assert(!pci_ff_whole(-0.0) && !pci_ff_whole(0.5) && !pci_ff_whole(1e300));
    cr_assert(!pci_ff_whole((double)NAN) && !pci_ff_whole((double)INFINITY));
}

/* ---- slabs */

static void put_u32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* A container with one slab of 8 bytes and its root; what is changed makes it invalid. */
static pcol_status open_slabs(size_t at, uint32_t value, size_t size)
{
    uint8_t file[64] = {0};
    struct pci_input input;
    struct pci_slabs slabs;
    pcol_error err;
    memcpy(file, pci_slab_magic, 8);
    const uint32_t words[9] = {1, 2, 1, PCI_SLAB_F64, 48, 8, PCI_SLAB_JSON, 56, 8};
    for (size_t i = 0; i < 9; i++)
        put_u32(file + 8 + 4 * i, words[i]);
    memcpy(file + 56, "{\"a\":1}\n", 8);
    if (at)
        put_u32(file + at, value);
    cr_assert_eq(pci_input_open_memory(&input, file, size, "", NULL, NULL), PCOL_OK);
    pcol_status status = pci_slabs_open(&slabs, &input, &err);
    if (status == PCOL_OK)
        pci_slabs_close(&slabs);
    else
        cr_assert_neq(err.offset, PCOL_POSITION_UNKNOWN);
    pci_input_close(&input);
    return status;
}

Test(firefox, slabs_lie_within_the_file)
{
    cr_assert_eq(open_slabs(0, 0, 64), PCOL_OK);
    cr_assert_eq(open_slabs(8, 2, 64), PCOL_E_SYNTAX);           /* version */
    cr_assert_eq(open_slabs(12, 0xffffffff, 64), PCOL_E_SYNTAX); /* count */
    cr_assert_eq(open_slabs(16, 2, 64), PCOL_E_SYNTAX);          /* root */
    cr_assert_eq(open_slabs(16, 0, 64), PCOL_E_SYNTAX);          /* a root that is no JSON */
    cr_assert_eq(open_slabs(20, 11, 64), PCOL_E_SYNTAX);         /* type */
    cr_assert_eq(open_slabs(24, 44, 64), PCOL_E_SYNTAX);         /* alignment */
    cr_assert_eq(open_slabs(24, 16, 64), PCOL_E_SYNTAX);         /* in the table */
    cr_assert_eq(open_slabs(28, 0xfffffff8, 64), PCOL_E_SYNTAX); /* size */
    cr_assert_eq(open_slabs(28, 4, 64), PCOL_E_SYNTAX);          /* half an element */
    for (size_t size = 8; size < 64; size++)
        cr_assert_eq(open_slabs(0, 0, size), PCOL_E_SYNTAX, "%zu", size);
}

/* ---- memory that runs out */

static const char profile[] =
    "{\"meta\":{\"preprocessedProfileVersion\":49,\"interval\":1,\"categories\":[{\"name\":\"O\","
    "\"color\":\"grey\",\"subcategories\":[\"O\"]}]},\"libs\":[{\"name\":\"x\"}],\"pages\":[{}],"
    "\"threads\":[{\"name\":\"t\",\"pid\":\"1\",\"tid\":1,\"stringArray\":[\"a\",\"b\",\"a\"],"
    "\"resourceTable\":{\"length\":1,\"lib\":[0],\"name\":[0],\"host\":[null],\"type\":[1]},"
    "\"funcTable\":{\"length\":2,\"name\":[0,2],\"isJS\":[false,true],\"resource\":[0,-1],"
    "\"fileName\":[null,1]},\"frameTable\":{\"length\":2,\"func\":[0,1],\"address\":[5,-1],"
    "\"category\":[0,null],\"novel\":[1,{}]},\"stackTable\":{\"length\":3,\"frame\":[0,1,1],"
    "\"prefix\":[null,0,0],\"category\":[0,0,0]},\"samples\":{\"length\":2,\"stack\":[1,2],"
    "\"timeDeltas\":[1.5,0.1],\"weight\":[1,2.5],\"threadCPUDelta\":[null,7],\"eventDelay\":[0,"
    "null]},\"markers\":{\"length\":2,\"name\":[0,1],\"startTime\":[1,2],\"endTime\":[null,3],"
    "\"phase\":[0,1],\"category\":[0,0],\"data\":[null,{\"a\":1,\"b\":[1]}]}}],\"counters\":[{"
    "\"name\":\"c\",\"samples\":{\"length\":1,\"time\":[1],\"count\":[2]}}]}";

static long left; /* allocations until one fails */

static int fail_later(void)
{
    return left-- == 0;
}

/* Import and write; *file is the caller's. */
static pcol_status import(void **file, size_t *size)
{
    pcol_builder *builder;
    pcol_error err;
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    *file = NULL;
    options.format = "firefox";
    pcol_status status = pcol_builder_new(NULL, &builder, &err);
    if (status != PCOL_OK)
        return status;
    status = pcol_import_memory(builder, profile, sizeof profile - 1, "p.json", &options, &err);
    if (status == PCOL_OK)
        status = pcol_builder_write_memory(builder, 0, NULL, file, size, &err);
    pcol_builder_free(builder);
    return status;
}

static pcol_status export(const void *data, size_t size, const char *format, struct text *text)
{
    pcol_file *file;
    pcol_error err;
    pcol_status status = pcol_file_open_memory(data, size, NULL, &file, &err);
    if (status != PCOL_OK)
        return status;
    status = pcol_export(file, format, NULL, (pcol_sink){text_gather, text}, &err);
    pcol_file_close(file);
    return status;
}

Test(firefox, memory_may_run_out_at_any_time)
{
    void *file;
    size_t size;
    pcol_status status = PCOL_E_NO_MEMORY;
    for (long n = 0; status != PCOL_OK; n++) {
        left = n;
        pci_alloc_hook = fail_later;
        status = import(&file, &size);
        pci_alloc_hook = NULL;
        cr_assert(status == PCOL_OK || status == PCOL_E_NO_MEMORY, "%ld: %s", n,
                  pcol_status_name(status));
    }
    static const char *const formats[] = {"firefox", "jslb"}; /* as it was, and as any profile */
    for (size_t i = 0; i < 2; i++) {
        status = PCOL_E_NO_MEMORY;
        for (long n = 0; status != PCOL_OK; n++) {
            struct text text = {0};
            left = n;
            pci_alloc_hook = fail_later;
            status = export(file, size, formats[i], &text);
            pci_alloc_hook = NULL;
            cr_assert(status == PCOL_OK || status == PCOL_E_NO_MEMORY, "%s, %ld: %s", formats[i], n,
                      pcol_status_name(status));
            free(text.data);
        }
    }
    pcol_free(file);
}
