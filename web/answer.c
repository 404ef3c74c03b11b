/*
 * answer.c - parse a request, call its function, assemble the reply
 */
#include "answer_internal.h"

#include <stdlib.h>
#include <string.h>

const char *request_text(const struct request *r, const char *key)
{
    size_t length = strlen(key) + 1;

    for (size_t at = 0; at < r->size;) {
        size_t value = at + strlen(r->data + at) + 1;
        if (value >= r->size)
            return NULL;
        if (value - at == length && memcmp(r->data + at, key, length) == 0)
            return r->data + value;
        at = value + strlen(r->data + value) + 1;
    }
    return NULL;
}

int64_t request_integer(const struct request *r, const char *key, int64_t otherwise)
{
    const char *text = request_text(r, key);

    return text != NULL ? strtoll(text, NULL, 10) : otherwise;
}

double request_number(const struct request *r, const char *key, double otherwise)
{
    const char *text = request_text(r, key);

    return text != NULL ? strtod(text, NULL) : otherwise;
}

pcol_status request_rows(const struct request *r, const char *key, uint32_t **rows, size_t *count,
                         pcol_error *err)
{
    const char *text = request_text(r, key);
    size_t places = 1;

    *rows = NULL;
    *count = 0;
    if (text == NULL)
        return PCOL_OK;
    for (const char *at = text; *at != '\0'; at++)
        places += *at == ',';
    *rows = malloc(places * sizeof **rows);
    if (*rows == NULL)
        return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    while (*text != '\0') {
        uint64_t row = 0;
        size_t digits = 0;
        for (; *text >= '0' && *text <= '9' && digits < 11; text++, digits++)
            row = row * 10 + (uint64_t)(*text - '0');
        if (digits == 0 || row > UINT32_MAX || (*text != ',' && *text != '\0')) {
            free(*rows);
            *rows = NULL;
            return pcol_error_set(err, PCOL_E_ARGUMENT, 0, "'%s' is not a list of rows", key);
        }
        (*rows)[(*count)++] = (uint32_t)row;
        text += *text == ',';
    }
    return PCOL_OK;
}

pcol_status request_by(answer *a, const struct request *r, pcol_by *by, const char **label,
                       pcol_error *err)
{
    static const char *const names[] = {"function", "file",   "line",    "srcline", "location",
                                        "mapping",  "thread", "process", "source"};
    const char *text = request_text(r, "by");

    *by = PCOL_BY_FUNCTION;
    *label = NULL;
    if (text == NULL)
        return PCOL_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            *by = (pcol_by)i;
            return PCOL_OK;
        }
    if (strncmp(text, "label:", 6) == 0) {
        *by = PCOL_BY_LABEL;
        pcol_str key;
        pcol_status status = answer_name(&a->key, text + 6, &key, err);
        *label = key.data;
        return status == PCOL_OK ? answer_check_word(key, err) : status;
    }
    return pcol_error_set(err, PCOL_E_ARGUMENT, 0, "unknown kind of rows");
}

void answer_text(answer *a, size_t buffer, pcol_str text)
{
    bytes_utf8(&a->buffers[buffer], text);
    bytes_text(&a->buffers[buffer], "\n");
}

answer *answer_new(void)
{
    return calloc(1, sizeof(answer));
}

static void drop_query(answer *a)
{
    pcol_view_free(a->view);
    a->view = NULL;
    for (int i = 0; i < 2; i++) {
        pcol_lanes_free(a->lanes[i]);
        pcol_query_free(a->query[i]);
        a->lanes[i] = NULL;
        a->query[i] = NULL;
    }
}

void answer_free(answer *a)
{
    if (a == NULL)
        return;
    answer_set_file(a, ANSWER_NEW, NULL);
    answer_set_file(a, ANSWER_BASE, NULL);
    for (size_t i = 0; i < REPLY_BUFFERS; i++)
        free(a->buffers[i].data);
    free(a->reply.data);
    free(a->key.data);
    for (int i = 0; i < 2; i++)
        free(a->type[i].data);
    free(a);
}

void answer_set_file(answer *a, int slot, pcol_file *file)
{
    drop_query(a);
    answer_tracks_free(a->tracks[slot]);
    a->tracks[slot] = NULL;
    a->file[slot] = file;
}

static void pad(struct bytes *b)
{
    static const char zeros[8];

    bytes_add(b, zeros, (8 - b->used % 8) % 8);
}

/* Large buffers are not kept: a server has many sessions. */
static void clear(struct bytes *b)
{
    enum { KEPT = 16 << 20 };

    if (b->capacity > KEPT) {
        free(b->data);
        memset(b, 0, sizeof *b);
    }
    b->used = 0;
    b->failed = PCOL_OK;
}

static const uint8_t *assemble(answer *a, pcol_status status, size_t *size)
{
    struct bytes *reply = &a->reply;

    reply->used = 0;
    bytes_u32(reply, (uint32_t)status);
    bytes_u32(reply, (uint32_t)a->count);
    for (size_t i = 0; i < a->count; i++)
        bytes_u32(reply, (uint32_t)a->buffers[i].used);
    for (size_t i = 0; i < a->count; i++) {
        pad(reply);
        bytes_add(reply, a->buffers[i].data, a->buffers[i].used);
        clear(&a->buffers[i]);
    }
    *size = reply->used;
    return reply->failed != PCOL_OK ? NULL : reply->data;
}

static void reset(answer *a)
{
    for (size_t i = 0; i < REPLY_BUFFERS; i++)
        clear(&a->buffers[i]);
    clear(&a->reply);
    a->count = 1;
}

static void put_error(answer *a, const pcol_error *err)
{
    char place[192];

    reset(a);
    pcol_error_place(err, place, sizeof place);
    bytes_text(&a->buffers[0], "{");
    bytes_member_text(&a->buffers[0], "error", (pcol_str){err->message, strlen(err->message)});
    bytes_member_text(&a->buffers[0], "place", (pcol_str){place, strlen(place)});
    bytes_text(&a->buffers[0], "}");
}

static pcol_status dispatch(answer *a, const struct request *r, pcol_error *err)
{
    static const struct {
        const char *op;
        pcol_status (*function)(answer *, const struct request *, pcol_error *);
    } ops[] = {{"info", answer_info},           {"functions", answer_functions},
               {"values", answer_values},       {"select", answer_select},
               {"names", answer_names},         {"mark", answer_mark},
               {"window", answer_window},       {"top", answer_top},
               {"peek", answer_peek},           {"lanes", answer_lanes},
               {"bins", answer_bins},           {"stacks", answer_stacks},
               {"tracks", answer_tracks},       {"marker", answer_marker},
               {"trackbins", answer_trackbins}, {"markers", answer_markers}};
    const char *op = request_text(r, "op");

    for (size_t i = 0; op != NULL && i < sizeof ops / sizeof *ops; i++)
        if (strcmp(op, ops[i].op) == 0) {
            if (a->file[ANSWER_NEW] == NULL)
                return pcol_error_set(err, PCOL_E_STATE, 0, "no profile is open");
            if (i > 3 && a->query[ANSWER_NEW] == NULL)
                return pcol_error_set(err, PCOL_E_STATE, 0, "nothing is selected");
            return ops[i].function(a, r, err);
        }
    return pcol_error_set(err, PCOL_E_ARGUMENT, 0, "unknown request");
}

const uint8_t *answer_request(answer *a, const char *request, size_t size, size_t *reply_size)
{
    struct request r = {request, size};
    uint64_t total = 0;
    pcol_error err;
    pcol_status status;

    reset(a);
    if (size == 0 || request[size - 1] != '\0')
        status = pcol_error_set(&err, PCOL_E_ARGUMENT, 0, "malformed request");
    else
        status = dispatch(a, &r, &err);
    for (size_t i = 0; i < a->count && status == PCOL_OK; i++) {
        total += a->buffers[i].used;
        status = total > MOST_REPLY ? PCOL_E_LIMIT : a->buffers[i].failed;
        if (status != PCOL_OK)
            pcol_error_set(&err, status, 0,
                           status == PCOL_E_LIMIT ? "the reply is larger than 256 MiB"
                                                  : "out of memory");
    }
    if (status != PCOL_OK)
        put_error(a, &err);
    return assemble(a, status, reply_size);
}

void answer_release(answer *a)
{
    reset(a);
}

const uint8_t *answer_fail(answer *a, const pcol_error *err, size_t *reply_size)
{
    put_error(a, err);
    return assemble(a, err->status, reply_size);
}
