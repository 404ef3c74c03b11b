/*
 * test_pprof.c - pprof profiles: round trips against protobuf-c, rejected inputs and their
 * positions
 *
 * Random profiles are messages of protobuf-c, serialized in any order of fields. They are imported,
 * exported, parsed by protobuf-c and compared field by field with the original.
 */
#include <criterion/criterion.h>

#include "formats/pprof/pprof.h"
#include "pprof_case.h"
#include "stream/input_open.h"
#include "util/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- there and back ---- */

static pcol_status import_all(const struct bytes *inputs, size_t count, pcol_builder **builder,
                              pcol_error *err)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    options.format = "pprof";
    pcol_status status = pcol_builder_new(NULL, builder, err);
    for (size_t i = 0; status == PCOL_OK && i < count; i++)
        status = pcol_import_memory(*builder, inputs[i].data, inputs[i].size, "in", &options, err);
    return status;
}

static pcol_status export_one(const void *data, size_t size, uint64_t source, struct bytes *out,
                              pcol_error *err)
{
    pcol_export_options options = PCOL_INIT(pcol_export_options);
    pcol_file *file;
    options.source_id = source;
    options.compress = PCOL_COMPRESS_NONE;
    pcol_status status = pcol_file_open_memory(data, size, NULL, &file, err);
    if (status == PCOL_OK)
        status = pcol_export(file, "pprof", &options, (pcol_sink){bytes_gather, out}, err);
    pcol_file_close(file);
    return status;
}

static void check_sound(const void *data, size_t size, unsigned seed)
{
    pcol_file *file;
    uint64_t faults;
    cr_assert_eq(pcol_file_open_memory(data, size, NULL, &file, NULL), PCOL_OK);
    cr_assert_eq(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, NULL),
                 PCOL_OK);
    cr_assert_eq(faults, 0, "seed %u: %d faults", seed, (int)faults);
    pcol_file_close(file);
}

static void come_back(Profile *const *profiles, size_t count, unsigned seed)
{
    struct bytes inputs[3];
    pcol_builder *builder;
    pcol_error err = {0};
    void *data;
    size_t size;
    for (size_t i = 0; i < count; i++) {
        inputs[i] = pprof_pack(profiles[i]);
        pprof_reorder(&inputs[i]);
    }
    cr_assert_eq(import_all(inputs, count, &builder, &err), PCOL_OK, "seed %u: %s", seed,
                 err.message);
    cr_assert_eq(pcol_builder_write_memory(builder, 0, NULL, &data, &size, &err), PCOL_OK,
                 "seed %u: %s", seed, err.message);
    pcol_builder_free(builder);
    check_sound(data, size, seed);
    for (size_t i = 0; i < count; i++) {
        struct bytes out = {0};
        cr_assert_eq(export_one(data, size, count > 1 ? i + 1 : 0, &out, &err), PCOL_OK,
                     "seed %u: %s", seed, err.message);
        Profile *back = pci_pprof__profile__unpack(NULL, out.size, out.data);
        cr_assert_not_null(back, "seed %u: protobuf-c cannot read what we wrote", seed);
        pprof_same(profiles[i], back, seed);
        pci_pprof__profile__free_unpacked(back, NULL);
        free(out.data);
        free(inputs[i].data);
    }
    pcol_free(data);
}

Test(pprof, random_profiles_come_back)
{
    for (unsigned seed = 1; seed <= 300; seed++) {
        Profile *p = pprof_any_profile(seed);
        come_back(&p, 1, seed);
        pprof_free_all();
    }
}

Test(pprof, each_of_several_sources_comes_back)
{
    for (unsigned seed = 1; seed <= 60; seed++) {
        Profile *p[3];
        for (unsigned i = 0; i < 3; i++)
            p[i] = pprof_any_profile(seed % 4 ? seed * 1000 + i
                                              : seed); /* at times three equal ones */
        come_back(p, 3, seed);
        pprof_free_all();
    }
}

/* More label keys than there are columns; the rest is stored in the tree. */
Test(pprof, a_thousand_label_keys)
{
    Profile *p = pprof_make(1, sizeof *p);
    char text[16];
    pci_pprof__profile__init(p);
    pprof_random = 99;
    p->n_string_table = pprof_string_count = 1001;
    p->string_table = pprof_make(pprof_string_count, sizeof *p->string_table);
    for (size_t i = 1; i < pprof_string_count; i++) {
        p->string_table[i].len = (size_t)snprintf(text, sizeof text, "k%zu", i);
        p->string_table[i].data = pprof_make(16, 1);
        memcpy(p->string_table[i].data, text, 16);
    }
    for (int i = 0; i < 3; i++)
        pprof_id_count[i] = 0;
    MANY(sample_type, 1, pprof_any_type());
    MANY(sample, 600, pprof_any_sample(1, 1001));
    come_back(&p, 1, 0);
    pprof_free_all();
}

/* The window may end anywhere. */
Test(pprof, fields_over_the_end_of_the_window)
{
    Profile *p = pprof_any_profile(7);
    struct bytes packed = pprof_pack(p);
    void *whole;
    size_t whole_size;
    pcol_builder *builder;
    cr_assert_eq(import_all(&packed, 1, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_write_memory(builder, 0, NULL, &whole, &whole_size, NULL), PCOL_OK);
    pcol_builder_free(builder);
    for (size_t piece = 1; piece < 40; piece += 3) {
        pcol_import_options options = PCOL_INIT(pcol_import_options);
        struct pci_input_options how = {.piece = piece};
        struct pci_input input;
        void *data;
        size_t size;
        int ends[2];
        cr_assert_eq(pipe(ends), 0);
        cr_assert_eq(write(ends[1], packed.data, packed.size), (ssize_t)packed.size);
        close(ends[1]);
        cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
        cr_assert_eq(pci_input_open_fd(&input, ends[0], "in", &how, NULL), PCOL_OK);
        struct pci_import import = {builder, &input, &options, "pprof", NULL, PCOL_NONE};
        cr_assert_eq(pci_pprof_read(&import, NULL), PCOL_OK);
        cr_assert_eq(pcol_builder_write_memory(builder, 0, NULL, &data, &size, NULL), PCOL_OK);
        cr_assert(size == whole_size && !memcmp(data, whole, size), "piece %zu", piece);
        pci_input_close(&input);
        close(ends[0]);
        pcol_builder_free(builder);
        pcol_free(data);
    }
    pcol_free(whole);
    free(packed.data);
    pprof_free_all();
}

/* ---- rejected input ---- */

/* A sound profile in parts, so that a test can put something between them: sample type, sample with
 * location 1, location 1 with function 1, function 1, strings "" and "x". */
enum { P_TYPE, P_SAMPLE, P_MAPPING, P_LOCATION, P_FUNCTION, P_STRINGS, P_COUNT };
static const char *const parts[P_COUNT] = {
    "\x0a\x02\x08\x01",         "\x12\x06\x0a\x01\x01\x12\x01\x05",
    "\x1a\x02\x08\x01",         "\x22\x06\x08\x01\x22\x02\x08\x01",
    "\x2a\x04\x08\x01\x10\x01", "\x32\0\x32\x01x"};
static const size_t part_sizes[P_COUNT] = {4, 8, 4, 8, 6, 5};

struct fault {
    int part; /* replaced; P_COUNT: appended */
    const char *bytes;
    size_t size;
    uint64_t at;
    const char *message;
};

#define BYTES(text) text, sizeof text - 1

static const struct fault faults[] = {
    {P_TYPE, BYTES(""), 2, "Sample without sample types"},
    {P_TYPE, BYTES("\x0a\x02\x08\x01\x0a\x02\x08\x01"), 10, "Sample has 1 values where"},
    {P_TYPE, BYTES("\x0a\x02\x08\x02"), 2,
     "ValueType.type: string 2 does not exist, the table has 2"},
    {P_TYPE, BYTES("\x0a\x02\x10\x7f"), 2, "ValueType.unit: string 127 does not exist"},
    {P_TYPE, BYTES("\x0a\x03\x0a\x01\x01"), 2, "ValueType.type has wire type 2"},
    {P_TYPE, BYTES("\x08\x01"), 0, "Profile.sample_type has wire type 0"},
    {P_SAMPLE, BYTES("\x12\x06\x0a\x01\x02\x12\x01\x05"), 8, "Sample.location_id 2 names no"},
    {P_SAMPLE, BYTES("\x12\x07\x0a\x02\x01\x00\x12\x01\x05"), 9, "Sample.location_id 0 names no"},
    {P_SAMPLE, BYTES("\x12\x06\x08\x01\x08\x63\x10\x05"), 8, "Sample.location_id 99 names no"},
    {P_SAMPLE, BYTES("\x12\x03\x0a\x01\x01"), 6, "Sample has 0 values where"},
    {P_SAMPLE, BYTES("\x12\x07\x0a\x01\x01\x12\x02\x05\x05"), 6, "Sample has 2 values where"},
    {P_SAMPLE, BYTES("\x12\x06\x0a\x01\x81\x12\x01\x05"), 8, "Sample.location_id: bad varint"},
    {P_SAMPLE, BYTES("\x12\x06\x0a\x01\x01\x12\x01\x85"), 11, "Sample.value: bad varint"},
    {P_SAMPLE, BYTES("\x12\x06\x0a\x01\x01\x12\x09\x05"), 9, "Sample.value claims 9 bytes where 1"},
    {P_SAMPLE, BYTES("\x12\x05\x0d\x01\x01\x01\x01"), 6, "Sample.location_id has wire type 5"},
    {P_SAMPLE, BYTES("\x12\x08\x0a\x01\x01\x12\x01\x05\x18\x01"), 12,
     "Sample.label has wire type 0"},
    {P_SAMPLE, BYTES("\x12\x0a\x0a\x01\x01\x12\x01\x05\x1a\x02\x08\x02"), 14,
     "Label.key: string 2 does not exist"},
    {P_SAMPLE, BYTES("\x12\x0a\x0a\x01\x01\x12\x01\x05\x1a\x02\x10\x02"), 14,
     "Label.str: string 2 does not exist"},
    {P_SAMPLE, BYTES("\x12\x0a\x0a\x01\x01\x12\x01\x05\x1a\x02\x20\x02"), 14,
     "Label.num_unit: string 2 does not exist"},
    {P_SAMPLE, BYTES("\x12\x0a\x0a\x01\x01\x12\x01\x05\x1a\x02\x18\x82"), 14, "Label: bad varint"},
    {P_SAMPLE, BYTES("\x12\x0b\x0a\x01\x01\x12\x01\x05\x1a\x03\x18\x02\x78"), 16,
     "Label: bad varint"},
    {P_SAMPLE, BYTES("\x12\x09\x0a\x01\x01\x12\x01\x05\x1a\x01\x2a"), 14, "Label: bad varint"},
    {P_SAMPLE, BYTES("\x12\x09\x0a\x01\x01\x12\x01\x05\x1a\x01\x19"), 14,
     "Label: the field is truncated"},
    {P_MAPPING, BYTES("\x1a\x02\x10\x01"), 14, "Mapping.id is 0"},
    {P_MAPPING, BYTES("\x1a\x02\x08\x01\x1a\x02\x08\x01"), 18, "Mapping.id 1 occurs twice"},
    {P_MAPPING, BYTES("\x1a\x04\x08\x01\x28\x07"), 16, "Mapping.filename: string 7 does not exist"},
    {P_MAPPING, BYTES("\x1a\x04\x08\x01\x30\x07"), 16, "Mapping.build_id: string 7 does not exist"},
    {P_LOCATION, BYTES("\x22\x06\x08\x01\x22\x02\x08\x02"), 22,
     "Line.function_id 2 of location 1: the function does not exist"},
    {P_LOCATION, BYTES("\x22\x06\x08\x01\x22\x02\x10\x02"), 22,
     "Line.function_id 0 of location 1: the function does not exist"},
    {P_LOCATION, BYTES("\x22\x02\x18\x01"), 18, "Location.id is 0"},
    {P_LOCATION, BYTES("\x22\x02\x08\x01\x22\x02\x08\x01"), 22, "Location.id 1 occurs twice"},
    {P_LOCATION, BYTES("\x22\x04\x08\x01\x20\x01"), 20, "Location.line has wire type 0"},
    {P_FUNCTION, BYTES("\x2a\x02\x10\x01"), 26, "Function.id is 0"},
    {P_FUNCTION, BYTES("\x2a\x02\x08\x01\x2a\x02\x08\x01"), 30, "Function.id 1 occurs twice"},
    {P_FUNCTION, BYTES("\x2a\x04\x08\x01\x10\x02"), 28, "Function.name: string 2 does not exist"},
    {P_FUNCTION, BYTES("\x2a\x04\x08\x01\x18\x02"), 28, "Function.system_name: string"},
    {P_FUNCTION, BYTES("\x2a\x04\x08\x01\x20\x02"), 28,
     "Function.filename: string 2 does not exist"},
    {P_STRINGS, BYTES(""), 30, "Profile.string_table is missing"},
    {P_STRINGS, BYTES("\x32\x01x\x32\x01x"), 30, "Profile.string_table: the first string is not"},
    {P_STRINGS, BYTES("\x32\0\x32\x02x"), 32, "Profile.string_table claims 2 bytes where 1 are"},
    {P_COUNT, BYTES("\x38\x02"), 35, "Profile.drop_frames: string 2 does not exist"},
    {P_COUNT, BYTES("\x40\x02"), 35, "Profile.keep_frames: string 2 does not exist"},
    {P_COUNT, BYTES("\x70\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 35,
     "Profile.default_sample_type: string -1 does not exist"},
    {P_COUNT, BYTES("\x78\x02"), 35, "Profile.doc_url: string 2 does not exist"},
    {P_COUNT, BYTES("\x68\x02"), 35, "Profile.comment: string 2 does not exist"},
    {P_COUNT, BYTES("\x6a\x01\x02"), 35, "Profile.comment: string 2 does not exist"},
    {P_COUNT, BYTES("\x6a\x01\x82"), 37, "Profile.comment: bad varint"},
    {P_COUNT, BYTES("\x5a\x02\x08\x02"), 37, "ValueType.type: string 2 does not exist"},
    {P_COUNT, BYTES("\x48\x01\x48\x00"), 37, "Profile.time_nanos occurs twice"},
    {P_COUNT, BYTES("\x4a\x01\x01"), 35, "Profile.time_nanos has wire type 2"},
    {P_COUNT, BYTES("\xa3\x06"), 35, "Profile: field 100 has wire type 3, which does not exist"},
    {P_COUNT, BYTES("\xa1\x06\x01"), 35, "Profile: the field is truncated"},
    {P_COUNT, BYTES("\xa5\x06\x01\x01\x01"), 35, "Profile: the field is truncated"},
    {P_COUNT, BYTES("\xa2"), 35, "Profile: bad varint"},
    {P_COUNT, BYTES("\x50\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), 35, "Profile: bad varint"},
};

static struct bytes with_fault(const struct fault *f)
{
    struct bytes b = {0};
    for (int i = 0; i < P_COUNT; i++)
        bytes_add(&b, f && f->part == i ? f->bytes : parts[i],
                  f && f->part == i ? f->size : part_sizes[i]);
    if (f && f->part == P_COUNT)
        bytes_add(&b, f->bytes, f->size);
    return b;
}

Test(pprof, refusals_name_message_field_and_byte)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct bytes b = with_fault(&faults[i]);
        pcol_builder *builder;
        pcol_error err = {0};
        cr_assert_eq(import_all(&b, 1, &builder, &err), PCOL_E_SYNTAX, "%zu: %s", i,
                     faults[i].message);
        cr_assert_not_null(strstr(err.message, faults[i].message), "%zu: %s, not %s", i,
                           err.message, faults[i].message);
        cr_assert_eq(err.offset, faults[i].at, "%zu: %s at %d, not %d", i, err.message,
                     (int)err.offset, (int)faults[i].at);
        pcol_builder_free(builder);
        free(b.data);
    }
}

/* Every prefix of a valid profile is rejected or is a profile; nothing is read beyond it. */
Test(pprof, cut_anywhere)
{
    struct bytes b = with_fault(NULL);
    for (size_t size = 0; size <= b.size; size++) {
        struct bytes part = {0};
        pcol_builder *builder;
        part.data = malloc(size ? size : 1);
        memcpy(part.data, b.data, size);
        part.size = size;
        pcol_status status = import_all(&part, 1, &builder, NULL);
        cr_assert(status == PCOL_OK ? size >= 32 : status == PCOL_E_SYNTAX, "%zu bytes", size);
        pcol_builder_free(builder);
        free(part.data);
    }
    free(b.data);
}

/* Any byte changed: no crash, and no error but a fault of the input. */
Test(pprof, any_byte_changed)
{
    Profile *p = pprof_any_profile(11);
    struct bytes b = pprof_pack(p);
    for (size_t i = 0; i < b.size; i++)
        for (unsigned bit = 0; bit < 8; bit += 1 + (unsigned)(i & 3)) {
            pcol_builder *builder;
            b.data[i] ^= (uint8_t)(1u << bit);
            pcol_status status = import_all(&b, 1, &builder, NULL);
            cr_assert(status == PCOL_OK || status == PCOL_E_SYNTAX || status == PCOL_E_LIMIT,
                      "byte %zu bit %u", i, bit);
            pcol_builder_free(builder);
            b.data[i] ^= (uint8_t)(1u << bit);
        }
    free(b.data);
    pprof_free_all();
}

/* ---- memory that is out ---- */

static long allocations_left;

static int out_of_memory(void)
{
    return allocations_left-- <= 0;
}

Test(pprof, out_of_memory_anywhere)
{
    Profile *p = pprof_any_profile(5);
    struct bytes b = pprof_pack(p), out = {0};
    void *data;
    size_t size;
    pcol_builder *builder;
    pcol_status status = PCOL_E_NO_MEMORY;
    cr_assert_eq(import_all(&b, 1, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_write_memory(builder, 0, NULL, &data, &size, NULL), PCOL_OK);
    pcol_builder_free(builder);
    for (long n = 0; status == PCOL_E_NO_MEMORY; n++) {
        builder = NULL;
        allocations_left = n;
        pci_alloc_hook = out_of_memory;
        status = import_all(&b, 1, &builder, NULL);
        pci_alloc_hook = NULL;
        pcol_builder_free(builder);
    }
    cr_assert_eq(status, PCOL_OK);
    status = PCOL_E_NO_MEMORY;
    for (long n = 0; status == PCOL_E_NO_MEMORY; n++) {
        out.size = 0;
        allocations_left = n;
        pci_alloc_hook = out_of_memory;
        status = export_one(data, size, 0, &out, NULL);
        pci_alloc_hook = NULL;
    }
    cr_assert_eq(status, PCOL_OK);
    pcol_free(data);
    free(out.data);
    free(b.data);
    pprof_free_all();
}

/* ---- samples added up ---- */

/* Two sources that share code: what is equal in all but ids is one, and samples add up. */
Test(pprof, several_sources_become_one_profile)
{
    struct bytes b[2] = {with_fault(NULL), with_fault(NULL)}, out = {0};
    pcol_builder *builder;
    void *data;
    size_t size;
    cr_assert_eq(import_all(b, 2, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_write_memory(builder, 0, NULL, &data, &size, NULL), PCOL_OK);
    pcol_builder_free(builder);
    cr_assert_eq(export_one(data, size, 0, &out, NULL), PCOL_OK);
    Profile *p = pci_pprof__profile__unpack(NULL, out.size, out.data);
    cr_assert_not_null(p);
    cr_assert_eq(p->n_sample, 1);
    cr_assert_eq(p->sample[0]->value[0], 10);
    cr_assert_eq(p->n_location, 1);
    cr_assert_eq(p->n_function, 1);
    cr_assert_eq(p->n_mapping, 0); /* nothing refers to it */
    cr_assert_eq(p->n_comment, 1); /* "pprof", of both */
    pci_pprof__profile__free_unpacked(p, NULL);
    pcol_free(data);
    free(out.data);
    free(b[0].data);
    free(b[1].data);
}

/* Recognised by content if the name is unknown. */
Test(pprof, recognised)
{
    struct bytes b = with_fault(NULL), unknown = {0}, inner = {0};
    cr_assert_eq(pci_pprof_sniff(b.data, b.size, 1), 2);
    cr_assert_eq(pci_pprof_sniff(b.data, b.size - 7, 0), 2);
    bytes_number(&inner, 1, 1);
    bytes_number(&inner, 77, 5);
    bytes_field(&unknown, 1, &inner);
    bytes_field(&unknown, 88, &inner);
    bytes_add(&unknown, b.data, b.size);
    cr_assert_eq(pci_pprof_sniff(unknown.data, unknown.size, 1), 2);
    static const char *const texts[] = {"{\"meta\": {}}",           "main;f 12\n",
                                        "heap profile: 1: 2",       "sample.interval=20000\n",
                                        "\n\n\n\n\n\n\n\n\n\n\n\n", "--- threads"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_assert_eq(pci_pprof_sniff((const uint8_t *)texts[i], strlen(texts[i]), 1), 0, "%s",
                     texts[i]);
    free(b.data);
    free(unknown.data);
    free(inner.data);
}
