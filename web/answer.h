/*
 * answer.h - requests of the report page, answered by libpcol
 *
 * The engine of the page (WebAssembly, in a worker) and `pcol view` (native) answer the same
 * requests. A request is a sequence of KEY NUL VALUE NUL; its first key is "op". A reply is
 *
 *     u32 status       0, or a pcol_status: the JSON text is then {"error":"..."}
 *     u32 count        of buffers, at least 1
 *     u32 sizes[]      in bytes
 *     buffers          each at a multiple of 8 bytes from the start of the reply
 *
 * in the byte order of the machine. Buffer 0 is JSON text, the others are arrays. One thread at a
 * time. Tests: tests/web.
 */
#ifndef PCOL_WEB_ANSWER_H
#define PCOL_WEB_ANSWER_H

#include "pcol.h"

typedef struct answer answer;

enum { ANSWER_NEW = 0, ANSWER_BASE = 1 };

/* NULL: out of memory. */
answer *answer_new(void);
void answer_free(answer *a);
/* Use an open file as the profile or its base. The caller closes it after another one, or NULL,
 * has taken its place. */
void answer_set_file(answer *a, int slot, pcol_file *file);

/* Answer a request. Returns the reply, valid until the next call; NULL: out of memory. */
const uint8_t *answer_request(answer *a, const char *request, size_t size, size_t *reply_size);
/* Free a large reply that is no longer needed. */
void answer_release(answer *a);
/* The reply for a failure outside of requests. */
const uint8_t *answer_fail(answer *a, const pcol_error *err, size_t *reply_size);

#endif
