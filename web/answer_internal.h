/*
 * answer_internal.h - what the files of the page's engine share
 */
#ifndef PCOL_WEB_ANSWER_INTERNAL_H
#define PCOL_WEB_ANSWER_INTERNAL_H

#include "answer.h"

/* Bytes of a reply, whose texts may be one long name of a few bytes of a file. */
#define MOST_REPLY ((size_t)1 << 28)

/* Growing bytes. After a failure additions have no effect. */
struct bytes {
    uint8_t *data;
    size_t used, capacity;
    pcol_status failed; /* PCOL_OK: no; E_NO_MEMORY, E_LIMIT (more than MOST_REPLY) */
};

void *bytes_extend(struct bytes *b, size_t size); /* NULL: it failed */
void bytes_add(struct bytes *b, const void *data, size_t size);
void bytes_text(struct bytes *b, const char *text);
void bytes_integer(struct bytes *b, int64_t value);
void bytes_u32(struct bytes *b, uint32_t value);
void bytes_f64(struct bytes *b, double value);
/* Untrusted text as UTF-8: other bytes become \xNN, and so does the backslash of a text \xNN, so
 * that different texts are shown differently. */
void bytes_utf8(struct bytes *b, pcol_str text);
/* The same as a JSON string. */
void bytes_json(struct bytes *b, pcol_str text);
/* `"key":`, with a comma unless it follows a bracket. */
void bytes_key(struct bytes *b, const char *key);
void bytes_comma(struct bytes *b);
void bytes_member(struct bytes *b, const char *key, int64_t value);
void bytes_member_text(struct bytes *b, const char *key, pcol_str text);
/* An amount as a JSON string: its digits exceed the integers of JavaScript. */
void bytes_member_amount(struct bytes *b, const char *key, pcol_amount amount, int is_double);

enum { REPLY_BUFFERS = 16 };

struct request {
    const char *data;
    size_t size;
};

/* The value of a key; NULL: absent. */
const char *request_text(const struct request *r, const char *key);
int64_t request_integer(const struct request *r, const char *key, int64_t otherwise);
double request_number(const struct request *r, const char *key, double otherwise);
/* Comma-separated row numbers; *rows is allocated, NULL if the key is absent. */
pcol_status request_rows(const struct request *r, const char *key, uint32_t **rows, size_t *count,
                         pcol_error *err);

struct answer_tracks;

struct answer {
    pcol_file *file[2];
    pcol_query *query[2]; /* of the last "select"; [1] is NULL without a base */
    pcol_view *view;      /* of these queries */
    pcol_by view_by;
    pcol_lanes *lanes[2];                /* of the last "lanes" */
    struct answer_tracks *tracks[2];     /* of the files; NULL: not read */
    struct bytes buffers[REPLY_BUFFERS]; /* [0]: JSON */
    size_t count;
    struct bytes reply;
    struct bytes key;     /* C string of the last request_by() by label, or of the last "peek" */
    struct bytes type[2]; /* name and unit of the last sample type of a request */
};

/* The kind of rows: "function", "file", "line", ..., "thread", "source", "label:KEY". *label is
 * valid until the next call. */
pcol_status request_by(answer *a, const struct request *r, pcol_by *by, const char **label,
                       pcol_error *err);

pcol_status answer_info(answer *a, const struct request *r, pcol_error *err);
pcol_status answer_select(answer *a, const struct request *r, pcol_error *err);
pcol_status answer_names(answer *a, const struct request *r, pcol_error *err);
pcol_status answer_functions(answer *a, const struct request *r, pcol_error *err);
pcol_status answer_values(answer *a, const struct request *r, pcol_error *err);
pcol_status answer_mark(answer *a, const struct request *r, pcol_error *err);
pcol_status answer_window(answer *a, const struct request *r, pcol_error *err);
pcol_status answer_lanes(answer *a, const struct request *r, pcol_error *err);
pcol_status answer_bins(answer *a, const struct request *r, pcol_error *err);
pcol_status answer_stacks(answer *a, const struct request *r, pcol_error *err);
pcol_status answer_tracks(answer *a, const struct request *r, pcol_error *err);
pcol_status answer_trackbins(answer *a, const struct request *r, pcol_error *err);
pcol_status answer_markers(answer *a, const struct request *r, pcol_error *err);
pcol_status answer_marker(answer *a, const struct request *r, pcol_error *err);
pcol_status answer_top(answer *a, const struct request *r, pcol_error *err);
pcol_status answer_peek(answer *a, const struct request *r, pcol_error *err);

/* The bytes of a text that bytes_utf8() shows so, terminated, in `b`. */
pcol_status answer_name(struct bytes *b, const char *shown, pcol_str *name, pcol_error *err);
/* The same of several names, each ended by a line feed; *names is allocated, also after a failure,
 * and refers to the bytes of `b`. */
pcol_status answer_split_names(struct bytes *b, const char *shown, pcol_str **names, size_t *count,
                               pcol_error *err);
/* E_UNSUPPORTED for a name with a byte 0, which is no C string. */
pcol_status answer_check_word(pcol_str text, pcol_error *err);
/* The byte of \xNN at the start of a text, -1 if there is none. */
int escaped_byte(const char *text, size_t size);
/* Append a text and its end, a line feed. */
void answer_text(answer *a, size_t buffer, pcol_str text);
/* Append boxes to the buffers from 1 on. */
void answer_boxes(answer *a, const pcol_box *boxes, size_t count);
void answer_tracks_free(struct answer_tracks *tracks);
/* A table of the model v2 or of the further tables; NULL and 0 rows if the file has none. */
pcol_status answer_find_table(const pcol_file *file, const char *name, const pcol_table **table,
                              uint64_t *rows, pcol_error *err);
/* A column for reads of single cells, which verify nothing by themselves: verified here, once per
 * file; NULL if there is none. */
pcol_status answer_find_column(const pcol_table *table, const char *name,
                               const pcol_column **column, pcol_error *err);
/* A table in which all numbers are as in the file; NULL and 0 rows if it has none. */
pcol_status answer_find_physical(const pcol_file *file, const char *name, const pcol_table **table,
                                 size_t *rows, pcol_error *err);
/* A column of integers, `otherwise` where null or without the column. The caller frees it. */
pcol_status answer_integers(const pcol_table *table, const char *name, size_t rows,
                            int64_t otherwise, int64_t **values, pcol_error *err);
/* A text of a row as a member; none without the table or the column. */
pcol_status answer_put_text(struct bytes *json, const pcol_table *table, const char *column,
                            const char *key, uint64_t row, pcol_error *err);
/* The texts of a column as a member, an array with the name of the table. */
pcol_status answer_put_texts(struct bytes *json, const pcol_file *file, const char *name,
                             const char *column, pcol_error *err);
/* The texts of at most `most` codes of the pool, as a member "names": an object by code. Sorts the
 * codes; UINT32_MAX is none. */
pcol_status answer_put_codes(answer *a, int slot, uint32_t *codes, size_t count, size_t most,
                             pcol_error *err);

#endif
