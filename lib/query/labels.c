/*
 * labels.c - tests of sample labels, and labels as text
 *
 * A key has a column per kind of value; a sample passes a test if a value in any of these columns
 * passes, or one without a column (label_members.c). Results are cached: that of the previous value
 * per column, and those of all strings of the string table. Tests: suite answers.
 */
#include "query/labels.h"

#include "model/frame_names.h"
#include "model/keyed_rows.h"
#include "util/alloc.h"
#include "util/integer.h"
#include "util/long_texts.h"
#include "util/strbuf.h"
#include "json/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_LISTED 64 /* keys that a message may list */

struct pci_label_frames {
    struct pci_keyed_reader samples;
    struct pci_stacks stacks;
    struct pci_frame_namer names;
};

struct tested_column {
    struct pci_label_column column;
    int64_t last_value; /* value of the last test */
    int has_last_value, last_passes;
    uint8_t *results; /* by string: 0 untested, 1 fails, 2 passes */
    uint64_t result_count;
};

struct pci_label_test {
    struct pci_strbuf text;       /* as given; `value` and `range` point into it */
    pcol_pattern *match;          /* KEY~PATTERN; NULL for */
    pcol_str value;               /* KEY=VALUE */
    int is_exact;                 /* of exact_labels: text with the unit */
    int is_negated;               /* KEY!=VALUE, KEY!~PATTERN */
    struct pci_label_range range; /* KEY=A:B, for numbers */
    int is_integer, is_double;
    int64_t integer;
    double number;
    struct pci_label_columns key_columns;
    struct tested_column *columns; /* key_columns.count */
    struct pci_strbuf with_unit;   /* text of a value with its unit */
    uint64_t long_texts;           /* bytes of those that were tested */
};

/* ---- columns and text */

int pci_label_is_frame(int kind)
{
    return kind == PCI_LABEL_FRAME || kind == PCI_LABEL_OWNFRAME || kind == PCI_LABEL_OWNNAME;
}

pcol_status pci_label_frames_open(const pcol_file *file, struct pci_label_frames **frames,
                                  pcol_error *err)
{
    const struct pci_column *stack;
    if (*frames)
        return PCOL_OK;
    PCI_TRY(PCI_CALLOC(*frames, 1, err));
    PCI_TRY(pci_find_verified_column(file, "samples", "stack", PCI_TYPES_ROW, &stack, err));
    PCI_TRY(pci_keyed_open(&(*frames)->samples, file, "samples", err));
    PCI_TRY(pci_stacks_open(file, &(*frames)->stacks, err));
    PCI_TRY(pci_stacks_verify(&(*frames)->stacks, err));
    return pci_frame_namer_open(&(*frames)->names, file, err);
}

void pci_label_frames_close(struct pci_label_frames *frames)
{
    if (!frames)
        return;
    pci_keyed_close(&frames->samples);
    pci_frame_namer_close(&frames->names);
    pci_free(frames);
}

/* The columns of the keys with a name; none if the file does not have the string. */
static pcol_status find_columns(struct pci_label_columns *c, pcol_str name,
                                struct pci_label_key **keys, pcol_error *err)
{
    uint64_t code = 0;
    size_t count;
    pcol_str key = {"", 0};
    int exists;
    PCI_TRY(pci_find_string(c->file, name, &code, &key, &exists, err));
    if (!exists)
        return PCOL_OK;
    PCI_TRY(pci_label_keys_read(c->file, "samples", &code, keys, &count, err));
    count = pci_label_keys_keep(*keys, count);
    PCI_TRY(PCI_MALLOC(c->columns, count + 1, err));
    for (size_t i = 0; i < count; i++) {
        const struct pci_label_key *label_key = &(*keys)[i];
        c->columns[c->count++] =
            (struct pci_label_column){label_key->column, label_key->kind, label_key->unit};
        if (pci_label_is_frame(label_key->kind))
            PCI_TRY(pci_label_frames_open(c->file, &c->frames, err));
    }
    PCI_TRY(pci_label_members_open(&c->members, c->file, key, err));
    return c->members.roots ? pci_label_frames_open(c->file, &c->frames, err) : PCOL_OK;
}

static pcol_status fail_unknown(const pcol_file *file, const char *key, size_t size,
                                pcol_error *err)
{
    char list[200] = "";
    pcol_str keys[MAX_LISTED];
    size_t used = 0, count;
    PCI_TRY(pcol_label_keys(file, keys, MAX_LISTED, &count, err));
    for (size_t i = 0; i < count && i < MAX_LISTED && used + 64 < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", used ? ", " : "",
                                 (int)(keys[i].size > 50 ? 50 : keys[i].size), keys[i].data);
    return pci_fail(err, PCOL_E_ARGUMENT, "no sample has a label '%.*s'%s%s",
                    (int)(size > 60 ? 60 : size), key, used ? "; existing labels: " : "", list);
}

pcol_status pci_label_columns_open(struct pci_label_columns *columns, const pcol_file *file,
                                   const char *key, size_t key_size, pcol_error *err)
{
    struct pci_label_key *keys = NULL;
    *columns = (struct pci_label_columns){.file = file};
    pcol_status status = find_columns(columns, (pcol_str){key, key_size}, &keys, err);
    pci_free(keys);
    if (status == PCOL_OK && !columns->count && !columns->members.roots)
        return fail_unknown(file, key, key_size, err);
    return status;
}

void pci_label_columns_close(struct pci_label_columns *columns)
{
    pci_label_frames_close(columns->frames);
    pci_free(columns->columns);
    *columns = (struct pci_label_columns){0};
}

pcol_status pci_label_read(const struct pci_label_columns *columns,
                           const struct pci_label_column *column, uint64_t row, size_t n,
                           int64_t *cells, uint8_t *valid, pcol_error *err)
{
    PCI_TRY(pci_read(columns->file, column->column, row, n, cells, valid, err));
    if (column->kind != PCI_LABEL_OWNFRAME && column->kind != PCI_LABEL_OWNNAME)
        return PCOL_OK;
    for (size_t i = 0; i < n; i++)
        if (valid[i])
            PCI_TRY(
                pci_keyed_own_frame(&columns->frames->samples, row + i, cells[i], &cells[i], err));
    return PCOL_OK;
}

static pcol_status get_frame_text(struct pci_label_frames *f, int kind, int64_t group,
                                  pcol_str *text, pcol_error *err)
{
    struct pci_name name;
    uint64_t first, count;
    PCI_TRY(pci_stacks_group(&f->stacks, (uint64_t)group, &first, &count, err));
    PCI_TRY(pci_frame_namer_get(&f->names, first, (uint32_t)group, &name, err));
    /* A repeated name is that of the function; a generated name is not. */
    *text = kind == PCI_LABEL_OWNNAME && name.is_made ? (pcol_str){"", 0} : name.name;
    return PCOL_OK;
}

pcol_status pci_label_frame_text(struct pci_label_frames *frames, int kind, uint64_t row,
                                 int64_t bits, pcol_str *text, pcol_error *err)
{
    if (kind != PCI_LABEL_FRAME)
        PCI_TRY(pci_keyed_own_frame(&frames->samples, row, bits, &bits, err));
    return get_frame_text(frames, kind, bits, text, err);
}

static pcol_str constant(const char *text)
{
    return (pcol_str){text, strlen(text)};
}

pcol_status pci_label_text(const struct pci_label_columns *columns,
                           const struct pci_label_column *column, uint64_t row, int64_t bits,
                           char *buffer, pcol_str *text, pcol_error *err)
{
    double number;
    int valid;
    *text = (pcol_str){buffer, 0};
    switch (column->kind) {
    case PCI_LABEL_STRING:
    case PCI_LABEL_BIGINT:
        return pci_get_str(columns->file, column->column, row, text, &valid, err);
    case PCI_LABEL_DOUBLE:
        memcpy(&number, &bits, sizeof number);
        if (isfinite(number)) /* -0 is 0 */
            text->size = pci_number_format(number == 0 ? 0 : number, buffer);
        else
            *text = constant(isnan(number) ? "NaN" : number < 0 ? "-Infinity" : "Infinity");
        return PCOL_OK;
    case PCI_LABEL_BOOL:
        *text = constant(bits ? "true" : "false");
        return PCOL_OK;
    case PCI_LABEL_NULL:
        *text = constant("null");
        return PCOL_OK;
    case PCI_LABEL_EMPTY:
        return PCOL_OK;
    case PCI_LABEL_FRAME:
    case PCI_LABEL_OWNFRAME:
    case PCI_LABEL_OWNNAME:
        return get_frame_text(columns->frames, column->kind, bits, text, err);
    default: /* integers */
        text->size = (size_t)snprintf(buffer, PCI_LABEL_TEXT, "%lld", (long long)bits);
        return PCOL_OK;
    }
}

int pci_label_is_stored(const struct pci_label_columns *columns, int kind, pcol_str text)
{
    return kind == PCI_LABEL_STRING || kind == PCI_LABEL_BIGINT ||
           (pci_label_is_frame(kind) && text.data != columns->frames->names.made);
}

pcol_status pci_label_with_unit(pcol_str unit, struct pci_strbuf *buffer, pcol_str *text,
                                pcol_error *err)
{
    buffer->size = 0;
    PCI_TRY(pci_strbuf_append(buffer, text->data, text->size, err));
    PCI_TRY(pci_strbuf_append(buffer, " ", 1, err));
    PCI_TRY(pci_strbuf_append(buffer, unit.data, unit.size, err));
    *text = (pcol_str){buffer->data, buffer->size};
    return PCOL_OK;
}

/* ---- tests */

static pcol_status test_text(const struct pci_label_test *test, pcol_str text, int *passes,
                             pcol_error *err)
{
    if (test->match)
        return pcol_pattern_test(test->match, text, passes, err);
    *passes = pci_str_equal(text, test->value);
    return PCOL_OK;
}

/* Tests a number. 0: the value is tested as text instead. */
static int test_number(const struct pci_label_test *test, int kind, pcol_str unit, int64_t bits,
                       int *passes)
{
    double number;
    if (test->match || test->is_exact || (kind != PCI_LABEL_INTEGER && kind != PCI_LABEL_DOUBLE))
        return 0;
    if (test->range.is_set) {
        *passes =
            pci_label_range_test(&test->range, kind, unit, test->key_columns.members.key, bits);
        return 1;
    }
    memcpy(&number, &bits, sizeof number);
    *passes =
        kind == PCI_LABEL_INTEGER
            ? test->is_integer && bits == test->integer
            : test->is_double && (number == test->number || (isnan(number) && isnan(test->number)));
    return 1;
}

/* The double nearest to an integer beyond 64 bits, as the cell of a double. */
static int64_t round_big(pcol_str text)
{
    char digits[DBL_MAX_10_EXP + 3], *end;
    size_t size = text.size < sizeof digits ? text.size : sizeof digits - 1;
    double number;
    int64_t bits;
    memcpy(digits, text.data, size);
    digits[size] = '\0';
    number = pci_number_strtod(digits, &end);
    if (*end || !size)
        number = (double)NAN;
    else if (size < text.size)
        number = *digits == '-' ? -(double)INFINITY : (double)INFINITY;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* Tests a value without and with its unit. known: its text; NULL: it is read from the cell. */
static pcol_status test_value(struct pci_label_test *test, const struct pci_label_column *column,
                              uint64_t row, int64_t bits, const pcol_str *known, int *passes,
                              pcol_error *err)
{
    char buffer[PCI_LABEL_TEXT];
    pcol_str text;
    int kind = column->kind, in_text = kind == PCI_LABEL_BIGINT && test->range.is_set;
    if (!known && in_text)
        PCI_TRY(pci_label_text(&test->key_columns, column, row, bits, buffer, &text, err));
    int is_tested = test_number(test, in_text ? PCI_LABEL_DOUBLE : kind, column->unit,
                                in_text ? round_big(known ? *known : text) : bits, passes);
    if (is_tested && (*passes || !column->unit.size))
        return PCOL_OK;
    if (known)
        text = *known;
    else
        PCI_TRY(pci_label_text(&test->key_columns, column, row, bits, buffer, &text, err));
    if (!is_tested)
        PCI_TRY(test_text(test, text, passes, err));
    if (!column->unit.size || (*passes && !test->is_exact))
        return PCOL_OK;
    PCI_TRY(pci_label_with_unit(column->unit, &test->with_unit, &text, err));
    PCI_TRY(pci_count_long_text(&test->long_texts, text.size, err));
    return test_text(test, text, passes, err);
}

/* Tests the values without a column of samples [row, row + n). */
static pcol_status test_members(const pcol_file *file, struct pci_label_test *test, uint64_t row,
                                size_t n, const uint8_t *alive, uint8_t *passed, pcol_error *err)
{
    int64_t roots[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    if (!test->key_columns.members.roots)
        return PCOL_OK;
    PCI_TRY(pci_read(file, test->key_columns.members.roots, row, n, roots, valid, err));
    for (size_t i = 0; i < n; i++) {
        struct pci_label_value value = {.member = PCI_NO_NODE};
        int passes = 0;
        while (valid[i] && alive[i] && !passed[i]) {
            PCI_TRY(pci_label_members_next(&test->key_columns, (uint64_t)roots[i], &value, err));
            if (value.member == PCI_NO_NODE)
                break;
            const struct pci_label_column none = {.kind = value.kind, .unit = value.unit};
            PCI_TRY(test_value(test, &none, 0, value.bits, &value.text, &passes, err));
            passed[i] = (uint8_t)passes;
        }
    }
    return PCOL_OK;
}

/* Tests a cell through the cached results. */
static pcol_status test_cached(struct pci_label_test *test, struct tested_column *tested_column,
                               uint64_t row, int64_t bits, int *passes, pcol_error *err)
{
    uint64_t code = (uint64_t)bits;
    if (tested_column->has_last_value && tested_column->last_value == bits) {
        *passes = tested_column->last_passes;
        return PCOL_OK;
    }
    if (tested_column->results && code < tested_column->result_count &&
        tested_column->results[code]) {
        *passes = tested_column->results[code] == 2;
    } else {
        PCI_TRY(test_value(test, &tested_column->column, row, bits, NULL, passes, err));
        if (tested_column->results && code < tested_column->result_count)
            tested_column->results[code] = *passes ? 2 : 1;
    }
    tested_column->has_last_value = 1;
    tested_column->last_value = bits;
    tested_column->last_passes = *passes;
    return PCOL_OK;
}

static pcol_status test_rows(const pcol_file *file, struct pci_label_test *test, uint64_t row,
                             size_t n, uint8_t *alive, pcol_error *err)
{
    int64_t cells[PCI_BATCH];
    uint8_t valid[PCI_BATCH], passed[PCI_BATCH] = {0};
    for (size_t c = 0; c < test->key_columns.count; c++) {
        struct tested_column *tested_column = &test->columns[c];
        PCI_TRY(
            pci_label_read(&test->key_columns, &tested_column->column, row, n, cells, valid, err));
        for (size_t i = 0; i < n; i++) {
            int passes = 0;
            if (!alive[i] || passed[i] || !valid[i])
                continue;
            PCI_TRY(test_cached(test, tested_column, row + i, cells[i], &passes, err));
            passed[i] = (uint8_t)passes;
        }
    }
    PCI_TRY(test_members(file, test, row, n, alive, passed, err));
    for (size_t i = 0; i < n; i++)
        alive[i] &= (uint8_t)(passed[i] ^ test->is_negated);
    return PCOL_OK;
}

pcol_status pci_sample_filter_labels(const struct pci_sample_filter *sample_filter,
                                     const pcol_file *file, uint64_t row, size_t n, uint8_t *alive,
                                     pcol_error *err)
{
    for (size_t i = 0; i < sample_filter->label_count; i++)
        PCI_TRY(test_rows(file, &sample_filter->labels[i], row, n, alive, err));
    return PCOL_OK;
}

pcol_status pci_sample_filter_verify(const struct pci_sample_filter *sample_filter,
                                     const pcol_file *file, pcol_error *err)
{
    for (size_t i = 0; i < sample_filter->label_count && !sample_filter->has_time; i++) {
        for (size_t c = 0; c < sample_filter->labels[i].key_columns.count; c++)
            PCI_TRY(pci_verify(file, sample_filter->labels[i].columns[c].column.column, err));
    }
    return PCOL_OK;
}

pcol_status pci_label_exists(const pcol_file *file, const char *key, int *exists, pcol_error *err)
{
    struct pci_label_key *keys = NULL;
    size_t count = 0;
    uint64_t code;
    pcol_str text;
    *exists = 0;
    pcol_status status =
        pci_find_string(file, (pcol_str){key, strlen(key)}, &code, &text, exists, err);
    if (*exists)
        PCI_THEN(status, pci_label_keys_read(file, "samples", &code, &keys, &count, err));
    for (*exists = 0; count-- > 0;)
        *exists |= keys[count].column != NULL;
    pci_free(keys);
    return status;
}

/* ---- parsing of tests */

static void parse_value(struct pci_label_test *test, const char *value)
{
    char *end;
    test->value = (pcol_str){value, strlen(value)};
    test->number = pci_number_strtod(value, &end);
    test->is_double = *value && !*end;
    struct pci_label_decimal whole;
    /* 1.0 and 1e3, but neither +7 nor 0x10. */
    test->is_integer = test->is_double && pci_label_decimal(value, end, 1, &whole) &&
                       !whole.has_rest && whole.floor >= INT64_MIN && whole.floor <= INT64_MAX;
    if (test->is_integer)
        test->integer = (int64_t)whole.floor;
}

static pcol_status add_columns(const pcol_file *file, struct pci_label_test *test, const char *key,
                               size_t size, pcol_error *err)
{
    size_t count;
    PCI_TRY(pci_label_columns_open(&test->key_columns, file, key, size, err));
    count = test->key_columns.count;
    PCI_TRY(PCI_CALLOC(test->columns, count, err));
    for (size_t i = 0; i < count; i++)
        test->columns[i].column = test->key_columns.columns[i];
    for (size_t i = 0; test->match && i < count; i++) {
        struct tested_column *tested_column = &test->columns[i];
        if (tested_column->column.column->desc->type != PCF_STRING)
            continue;
        PCI_TRY(pci_check_row_count(file, "strings", err));
        tested_column->result_count = pci_rows(file, "strings");
        PCI_TRY(PCI_CALLOC(tested_column->results, (size_t)tested_column->result_count + 1, err));
    }
    return PCOL_OK;
}

/* The operator after a key of this size, =, ~, != or !~; *at: where its = or ~ is. */
static int has_operator(const char *text, size_t size, size_t key_size, size_t *at)
{
    *at = key_size + (key_size < size && text[key_size] == '!');
    return *at < size && (text[*at] == '=' || text[*at] == '~');
}

/* Split a test: the key ends at the first operator, or at the one after a longer key of the file,
 * as a key may have such characters; k!=v means the key k! if there is no key k. */
static pcol_status find_operator(const pcol_file *file, pcol_str text, size_t *key_size, size_t *at,
                                 pcol_error *err)
{
    size_t count, end, first = strcspn(text.data, "=~");
    int is_negated = first && text.data[first - 1] == '!', has_shorter = 0;
    pcol_str *keys;
    *at = first;
    *key_size = first - (size_t)is_negated;
    if (first == text.size || (!is_negated && !strpbrk(text.data + first + 1, "=~")))
        return PCOL_OK;
    PCI_TRY(pcol_label_keys(file, NULL, 0, &count, err));
    PCI_TRY(PCI_CALLOC(keys, count + 1, err));
    pcol_status status = pcol_label_keys(file, keys, count, &count, err);
    for (size_t i = 0; status == PCOL_OK && i < count; i++) {
        pcol_str key = keys[i];
        if (key.size >= text.size || (key.size && memcmp(text.data, key.data, key.size) != 0))
            continue;
        has_shorter |= is_negated && key.size == first - 1;
        if (key.size >= first && key.size > *key_size && (key.size > first || !has_shorter) &&
            has_operator(text.data, text.size, key.size, &end)) {
            *key_size = key.size;
            *at = end;
        }
    }
    pci_free(keys);
    return status;
}

static pcol_status parse_test(const pcol_file *file, const char *given, struct pci_label_test *test,
                              pcol_error *err)
{
    size_t key_size, at;
    PCI_TRY(pci_strbuf_append(&test->text, given, strlen(given) + 1, err));
    const char *text = test->text.data;
    PCI_TRY(find_operator(file, (pcol_str){text, strlen(text)}, &key_size, &at, err));
    if (!text[at])
        return pci_error_option(
            err, "labels",
            pci_fail(err, PCOL_E_ARGUMENT, "label '%.100s' is not KEY=VALUE or KEY~PATTERN", text));
    const char *value = text + at + 1;
    if (text[at] == '~') {
        PCI_TRY(pci_pattern_new(value, "labels", &test->match, err));
    } else {
        parse_value(test, value);
        pci_label_range_parse(value, &test->range);
    }
    test->is_negated = at > key_size;
    return add_columns(file, test, text, key_size, err);
}

static pcol_status make_exact(const pcol_file *file, const pcol_label_value *given,
                              struct pci_label_test *test, pcol_error *err)
{
    pcol_str key = given->key, value = given->value;
    PCI_TRY(pci_strbuf_append(&test->text, value.data, value.size, err));
    test->value = (pcol_str){test->text.data, value.size};
    test->is_exact = 1;
    return add_columns(file, test, key.data, key.size, err);
}

pcol_status pci_label_tests_open(const pcol_file *file, const pcol_selection *selection,
                                 struct pci_label_test **tests, size_t *made, pcol_error *err)
{
    *made = 0;
    PCI_TRY(PCI_CALLOC(*tests, selection->label_count + selection->exact_label_count, err));
    for (size_t i = 0; i < selection->label_count; i++) {
        if (!selection->labels[i])
            return pci_fail(err, PCOL_E_ARGUMENT, "a label is NULL");
        PCI_TRY(parse_test(file, selection->labels[i], &(*tests)[(*made)++], err));
    }
    for (size_t i = 0; i < selection->exact_label_count; i++)
        PCI_TRY(make_exact(file, &selection->exact_labels[i], &(*tests)[(*made)++], err));
    return PCOL_OK;
}

void pci_label_tests_close(struct pci_label_test *tests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t c = 0; tests[i].columns && c < tests[i].key_columns.count; c++)
            pci_free(tests[i].columns[c].results);
        pci_free(tests[i].columns);
        pci_strbuf_clear(&tests[i].text);
        pci_strbuf_clear(&tests[i].with_unit);
        pci_label_columns_close(&tests[i].key_columns);
        pcol_pattern_free(tests[i].match);
    }
    pci_free(tests);
}
