/*
 * gperftools_case.c - profile.proto as text: one line per message, strings instead of indices
 */
#include "gperftools_case.h"
#include "formats/gperftools/gperftools.h"

#include <criterion/criterion.h>

#include "stream/input_open.h"
#include "util/alloc.h"
#include "util/control.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- printing profile.proto; the input is our own writer's, so it is not checked */

__attribute__((format(printf, 2, 3))) static void print(struct printer *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(p->text + p->used, sizeof p->text - p->used, format, arguments);
    va_end(arguments);
    cr_assert(n >= 0 && (size_t)n < sizeof p->text - p->used);
    p->used += (size_t)n;
}

struct field {
    unsigned number;
    uint64_t value; /* or the size of */
    const uint8_t *data;
};

static uint64_t varint(const uint8_t **p)
{
    uint64_t n = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = *(*p)++;
        n |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return n;
    }
}

static int next(const uint8_t **p, const uint8_t *end, struct field *f)
{
    if (*p == end)
        return 0;
    uint64_t key = varint(p);
    f->number = (unsigned)(key >> 3);
    f->value = varint(p);
    f->data = NULL;
    if ((key & 7) == 2) {
        f->data = *p;
        *p += f->value;
    }
    return 1;
}

/* The numbers of a message, by field; `inner` are its last submessages. */
static void numbers(const struct field *f, uint64_t *values, struct field *inner)
{
    const uint8_t *p = f->data, *end = p + f->value;
    struct field g;
    memset(values, 0, 12 * sizeof *values);
    while (next(&p, end, &g)) {
        values[g.number] = g.value;
        if (g.data)
            inner[g.number] = g;
    }
}

static const char *text_of(const struct printer *p, uint64_t n)
{
    static char text[4][512];
    static int turn;
    cr_assert_lt(n, p->string_count);
    turn = (turn + 1) % 4;
    snprintf(text[turn], sizeof text[turn], "%.*s", (int)p->sizes[n], (const char *)p->strings[n]);
    return text[turn];
}

static void print_sample(struct printer *p, const struct field *f)
{
    struct field inner[12] = {{0}};
    uint64_t v[12], label[12];
    numbers(f, v, inner);
    const char *between = "sample ";
    for (const uint8_t *q = inner[2].data; q < inner[2].data + inner[2].value; between = ",")
        print(p, "%s%" PRId64, between, (int64_t)varint(&q));
    print(p, " :");
    for (const uint8_t *q = inner[1].data; q && q < inner[1].data + inner[1].value;)
        print(p, " %" PRIu64, varint(&q));
    if (inner[3].data) {
        numbers(&inner[3], label, inner);
        print(p, " {%s=%" PRId64 "}", text_of(p, label[1]), (int64_t)label[3]);
    }
    print(p, "\n");
}

static void print_message(struct printer *p, const struct field *f)
{
    struct field inner[12] = {{0}};
    uint64_t v[12], line[12];
    if (f->number == 2) {
        print_sample(p, f);
        return;
    }
    if (f->data && f->number != 6)
        numbers(f, v, inner);
    if (f->number == 1)
        print(p, "type %s/%s\n", text_of(p, v[1]), text_of(p, v[2]));
    if (f->number == 3)
        print(p, "mapping %" PRIu64 " %" PRIx64 "-%" PRIx64 "+%" PRIx64 " %s %s\n", v[1], v[2],
              v[3], v[4], text_of(p, v[5]), text_of(p, v[6]));
    if (f->number == 4) {
        print(p, "location %" PRIu64 " m%" PRIu64 " %" PRIx64, v[1], v[2], v[3]);
        if (inner[4].data) {
            numbers(&inner[4], line, inner);
            print(p, " f%" PRIu64 ":%" PRIu64, line[1], line[2]);
        }
        print(p, "\n");
    }
    if (f->number == 5)
        print(p, "function %" PRIu64 " %s %s %s\n", v[1], text_of(p, v[2]), text_of(p, v[3]),
              text_of(p, v[4]));
    if (f->number == 7)
        print(p, "drop %.9s\n", text_of(p, f->value));
    if (f->number == 8)
        print(p, "keep %.9s\n", text_of(p, f->value));
    if (f->number == 10)
        print(p, "duration %" PRId64 "\n", (int64_t)f->value);
    if (f->number == 11)
        print(p, "period %s/%s", text_of(p, v[1]), text_of(p, v[2]));
    if (f->number == 12)
        print(p, " %" PRId64, (int64_t)f->value);
}

static void print_profile(struct printer *p, const uint8_t *data, size_t size)
{
    struct field f;
    const uint8_t *q = data;
    memset(p, 0, sizeof *p);
    while (next(&q, data + size, &f))
        if (f.number == 6) {
            cr_assert_lt(p->string_count, 64);
            p->strings[p->string_count] = f.data;
            p->sizes[p->string_count++] = f.value;
        }
    for (q = data; next(&q, data + size, &f);)
        print_message(p, &f);
    print(p, "\n");
}

/* ---- */

struct printer gp_printed;
char gp_messages[512];
pcol_error gp_failure;

static void note(void *context, const pcol_notice *notice)
{
    (void)context;
    snprintf(gp_messages, sizeof gp_messages, "%s", notice->text);
}

pcol_status gp_translate(const void *data, size_t size, int lenient)
{
    struct pci_input_options how = {.piece =
                                        7}; /* small pieces: words and lines cross their ends */
    struct pci_input input;
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    options.lenient = lenient;
    struct pci_import import = {NULL, &input, &options, "gperftools", NULL, PCOL_NONE};
    uint8_t *proto = NULL;
    size_t proto_size;
    gp_messages[0] = 0;
    memset(&gp_failure, 0, sizeof gp_failure);
    pcol_status status = pci_input_open_memory(&input, data, size, "in", &how, &gp_failure);
    cr_assert_eq(status, PCOL_OK, "%s", gp_failure.message);
    pcol_control control = {sizeof control, NULL, NULL, note};
    struct pci_control scope;
    cr_assert_eq(pci_control_init(&scope, &control, "read", NULL), PCOL_OK);
    PCI_CONTROLLED(&scope, status,
                   pci_gperftools_convert(&import, &proto, &proto_size, &gp_failure), &gp_failure);
    if (status == PCOL_OK)
        print_profile(&gp_printed, proto, proto_size);
    pci_free(proto);
    pci_input_close(&input);
    return status;
}

void gp_becomes(const char *text, const char *expected)
{
    cr_assert_eq(gp_translate(text, strlen(text), 0), PCOL_OK, "%s", gp_failure.message);
    cr_assert_str_eq(gp_printed.text, expected);
    cr_assert_eq(pci_gperftools_sniff((const uint8_t *)text, strlen(text), 1), 2);
}

void gp_refused(const char *text, uint64_t line, uint64_t column, const char *why)
{
    cr_assert_eq(gp_translate(text, strlen(text), 0), PCOL_E_SYNTAX, "%s", text);
    cr_assert_not_null(strstr(gp_failure.message, why), "%s", gp_failure.message);
    cr_assert_eq(gp_failure.line, line, "%s: line %" PRIu64, text, gp_failure.line);
    cr_assert_eq(gp_failure.text_column, column, "%s: column %" PRIu64, text,
                 gp_failure.text_column);
}
