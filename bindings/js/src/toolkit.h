/*
 * toolkit.h - parts of the WebAssembly module of the npm package, which calls pcol.h only
 *
 * The caller is pcol.js. Pointers are numbers; a function returns 0 or NULL after a failure, which
 * toolkit_error() describes. Results with several values are written to `toolkit_record`, one
 * 64-bit slot each. One thread.
 */
#ifndef PCOL_JS_TOOLKIT_H
#define PCOL_JS_TOOLKIT_H

#include "pcol.h"

#define EXPORT(name) __attribute__((export_name(#name)))

enum { RECORD_SLOTS = 16 };
extern uint64_t toolkit_record[RECORD_SLOTS];
extern pcol_error toolkit_failure;
/* Appends notices to toolkit_notices(). */
extern const pcol_control toolkit_control;

void record_pointer(int slot, const void *pointer);
void record_text(int slot, pcol_str text); /* two slots: pointer, bytes */

/* Growing bytes of a sink. */
struct bytes {
    uint8_t *data;
    size_t size, capacity;
};

pcol_status bytes_append(struct bytes *bytes, const void *data, size_t size);
pcol_sink bytes_sink(struct bytes *bytes);

/* Options of a call: KEY NUL VALUE NUL ... */
struct request {
    const char *data;
    size_t size;
};

const char *request_text(const struct request *request, const char *key); /* NULL: absent */
int request_flag(const struct request *request, const char *key);
int64_t request_integer(const struct request *request, const char *key, int64_t otherwise);
/* E_ARGUMENT: `by` or `order` is unknown. *label is set for "label:KEY". */
pcol_status request_rows(const struct request *request, pcol_by *by, pcol_order *order,
                         const char **label);

enum { MAX_LABELS = 64 };

struct selection {
    pcol_selection selection;
    const char *labels[MAX_LABELS];
};

pcol_status request_selection(const struct request *request, struct selection *to);

#endif
