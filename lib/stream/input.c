/*
 * input.c - sliding window over a file, a pipe or memory
 *
 * The window is a range of one buffer. Consuming advances its start. Without space for another
 * piece after it, the rest (usually part of a line) is moved to the start of the buffer, or the
 * buffer doubles if the rest is more than half of it: amortized, each byte is moved once.
 * Uncompressed memory is the window itself, which grows by pieces, too. Compressed data may be
 * decompressed by another thread; counters, limits, offsets and progress advance with the bytes
 * taken from it, so that they do not depend on its read-ahead.
 */
#include "stream/input_state.h"

#include "stream/inflate.h"
#include "util/alloc.h"
#include "util/control.h"
#include "util/import_budget.h"
#include "util/thread_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_PIECE ((size_t)1 << 18)
#define DEFAULT_LIMIT (UINT64_C(1) << 36)
#define MAX_WINDOW ((size_t)1 << 26)
#define MIN_STEP_AFTER_PAUSE ((size_t)1 << 12)
#define MAX_RAW_PIECE ((size_t)1 << 30) /* zlib's counters are unsigned int */

/* Prefix of each piece of the pipe: raw bytes consumed and read by the end of the piece. */
struct piece_head {
    uint64_t consumed, read_bytes;
};

#define PIECES_AHEAD 8u

/* 1 if the raw bytes are those of the caller's memory. */
static int is_memory(const struct pci_input_state *s)
{
    return s->fd < 0 && !s->reader.read;
}

/* Report bytes that a part has read; some may be read again. */
static pcol_status report_part(struct pci_input_state *s, size_t bytes, pcol_error *err)
{
    uint64_t left = s->file_bytes > s->read_bytes ? s->file_bytes - s->read_bytes : 0;
    s->read_bytes += bytes < left ? bytes : left;
    return pci_control_progress(s->read_bytes, s->file_bytes, err);
}

static pcol_status read_fd(struct pci_input_state *s, uint8_t *data, size_t size, size_t *got,
                           pcol_error *err)
{
    ssize_t n;
    if (s->reader.read) {
        PCI_TRY(pci_program_read(s->reader, data, size, got, err));
        s->read_bytes += *got;
        return pci_control_progress(s->read_bytes, 0, err);
    }
    if (s->position != UINT64_MAX && (s->position >= s->stop || s->stop - s->position < size))
        size = s->position < s->stop ? (size_t)(s->stop - s->position) : 0;
    do
        n = s->position == UINT64_MAX ? read(s->fd, data, size)
                                      : pread(s->fd, data, size, (off_t)s->position);
    while (n < 0 && errno == EINTR);
    *got = n > 0 ? (size_t)n : 0;
    if (n < 0)
        return pci_fail_errno(err, "read");
    if (s->position != UINT64_MAX)
        s->position += *got;
    s->read_bytes += *got;
    if (s->whole)
        return report_part(s->whole, *got, err);
    return s->is_ahead ? pci_work(0, err) : pci_control_progress(s->read_bytes, s->file_bytes, err);
}

/* Raw bytes for pci_inflate_read(). */
static pcol_status read_raw(void *context, const uint8_t **data, size_t *size, pcol_error *err)
{
    struct pci_input_state *s = context;
    if (s->raw_at == s->raw_size && !is_memory(s)) {
        s->raw_at = 0;
        s->raw_size = 0;
        PCI_TRY(read_fd(s, s->raw_buffer, s->piece, &s->raw_size, err));
    }
    size_t part = s->raw_size - s->raw_at;
    *data = s->raw + s->raw_at;
    *size = part < MAX_RAW_PIECE ? part : MAX_RAW_PIECE;
    s->raw_at += *size;
    return PCOL_OK;
}

/* Producer of the pipe; runs in its thread. */
static pcol_status make_piece(void *context, void *data, size_t capacity, size_t *size,
                              pcol_error *err)
{
    struct pci_input_state *s = context;
    uint8_t *to = data;
    size_t got;
    PCI_TRY(pci_inflate_read(s->inflate, to + sizeof(struct piece_head),
                             capacity - sizeof(struct piece_head), &got, err));
    struct piece_head head = {pci_inflate_consumed(s->inflate), s->read_bytes};
    memcpy(data, &head, sizeof head);
    *size = got ? got + sizeof head : 0;
    return PCOL_OK;
}

static pcol_status read_ahead(const struct pci_input *input, uint8_t *data, size_t size,
                              size_t *got, pcol_error *err)
{
    struct pci_input_state *s = input->state;
    struct piece_head head;
    *got = 0;
    if (!s->pending_size) {
        while (input->meanwhile && pci_read_pipe_would_block(s->ahead))
            if (!input->meanwhile(input->meanwhile_context))
                break;
        PCI_TRY(pci_read_pipe_next(s->ahead, &s->pending, &s->pending_size, err));
        if (!s->pending_size)
            return PCOL_OK;
        memcpy(&head, s->pending, sizeof head);
        s->consumed = head.consumed;
        s->pending += sizeof head;
        s->pending_size -= sizeof head;
        PCI_TRY(pci_control_progress(head.read_bytes, s->file_bytes, err));
    }
    *got = size < s->pending_size ? size : s->pending_size;
    memcpy(data, s->pending, *got);
    s->pending += *got;
    s->pending_size -= *got;
    return PCOL_OK;
}

static uint64_t consumed_raw(const struct pci_input_state *s)
{
    return s->is_ahead ? s->consumed : pci_inflate_consumed(s->inflate);
}

/* 64 KiB take longer to decompress than a thread to start. Pipes are not read ahead: a thread that
 * waits for the next byte could not be stopped after a failure elsewhere. */
static int is_worth_a_thread(const struct pci_input_state *s)
{
    uint64_t raw = is_memory(s) ? s->raw_size : s->file_bytes;
    return s->threads > 1 && !s->is_ahead && raw &&
           s->total + 4 * raw >= PCI_PARALLEL_MIN_BYTES / 4;
}

static pcol_status read_inflated(const struct pci_input *input, uint8_t *data, size_t size,
                                 size_t *got, pcol_error *err)
{
    struct pci_input_state *s = input->state;
    if (is_worth_a_thread(s)) {
        s->consumed = pci_inflate_consumed(s->inflate);
        s->is_ahead = 1;
        PCI_TRY(pci_read_pipe_new(make_piece, s, sizeof(struct piece_head) + PCI_INFLATE_STEP,
                                  PIECES_AHEAD, &s->ahead, err));
    }
    if (s->is_ahead)
        return read_ahead(input, data, size, got, err);
    return pci_inflate_read(s->inflate, data, size, got, err);
}

static pcol_status read_source(const struct pci_input *input, uint8_t *data, size_t size,
                               size_t *got, pcol_error *err)
{
    struct pci_input_state *s = input->state;
    if (s->inflate)
        return read_inflated(input, data, size, got, err);
    if (s->raw_at < s->raw_size) {
        *got = s->raw_size - s->raw_at < size ? s->raw_size - s->raw_at : size;
        memcpy(data, s->raw + s->raw_at, *got);
        s->raw_at += *got;
        return PCOL_OK;
    }
    return read_fd(s, data, size, got, err);
}

/* Make space for a piece after the window, or at least for some bytes. */
static pcol_status reserve(struct pci_input *input, pcol_error *err)
{
    struct pci_input_state *s = input->state;
    size_t start = s->buffer ? (size_t)(input->data - s->buffer) : 0;
    if (s->buffer && s->capacity - start - input->size >= s->piece)
        return PCOL_OK;
    if (input->size <= s->capacity / 2 && s->buffer) {
        memmove(s->buffer, input->data, input->size);
    } else if (!s->buffer || s->capacity < MAX_WINDOW) {
        size_t capacity = s->capacity ? s->capacity * 2 : s->piece * 2;
        uint8_t *buffer;
        PCI_TRY(PCI_MALLOC(buffer, capacity, err));
        if (input->size)
            memcpy(buffer, input->data, input->size);
        pci_free(s->buffer);
        s->buffer = buffer;
        s->capacity = capacity;
    } else if (input->size < s->capacity) {
        memmove(s->buffer, input->data, input->size);
    } else {
        return pci_fail_at_byte(err, PCOL_E_LIMIT, input->offset,
                                "a token or line of the input is longer than %zu MiB",
                                MAX_WINDOW >> 20);
    }
    input->data = s->buffer;
    return PCOL_OK;
}

static pcol_status fail_too_large(const struct pci_input_state *s, pcol_error *err)
{
    return pci_error_option(err, "max_input_bytes",
                            pci_fail(err, PCOL_E_LIMIT,
                                     "input is larger than the limit of %" PRIu64 " bytes",
                                     s->limit));
}

static void raise_budget(struct pci_input_state *s, uint64_t bytes)
{
    if (bytes <= s->granted)
        return;
    pci_budget_grant(s->budget, bytes - s->granted);
    s->granted = bytes;
}

/* Bytes of the (compressed) input that were consumed so far. */
static uint64_t input_consumed(const struct pci_input *input)
{
    const struct pci_input_state *s = input->state;
    return s->inflate ? consumed_raw(s) : input->offset + input->size;
}

/* Update the budget after `got` bytes were added to the window. */
static pcol_status charge_budget(const struct pci_input *input, size_t got, pcol_error *err)
{
    struct pci_input_state *s = input->state;
    raise_budget(s, input_consumed(input));
    pcol_status status = s->inflate ? pci_budget_charge_expansion(s->budget, got, err) : PCOL_OK;
    if (status != PCOL_OK && err)
        err->offset = input->offset;
    return status;
}

pcol_status pci_input_count_expanded(struct pci_input *input, uint64_t from, uint64_t to,
                                     pcol_error *err)
{
    struct pci_input_state *s = input->state;
    s->total += to;
    s->total -= from < s->total ? from : s->total;
    return s->total > s->limit ? fail_too_large(s, err)
                               : pci_budget_charge_expansion(s->budget, to, err);
}

static uint64_t count_characters(const uint8_t *data, size_t size)
{
    uint64_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += (data[i] & 0xc0) != 0x80;
    return count;
}

uint64_t pci_input_characters(const struct pci_input *input)
{
    return input->characters + count_characters(input->data, input->size);
}

/* Bytes of the next read, at most `available`. One byte more than the limit allows is read, to
 * detect a larger input. Up to a pause; after it only what the last line may need, doubling each
 * time. */
static size_t read_size(const struct pci_input *input, size_t available)
{
    struct pci_input_state *s = input->state;
    if (s->step && s->step < available) {
        available = s->step;
        s->step *= 4;
    }
    if (s->limit - s->total < available)
        available = (size_t)(s->limit - s->total) + 1;
    if (!input->pause)
        return available;
    uint64_t wanted = input->pause > s->total ? input->pause - s->total
                                              : s->total - input->pause + MIN_STEP_AFTER_PAUSE;
    return wanted < available ? (size_t)wanted : available;
}

/* Memory as it is: the window grows without limit. */
static pcol_status show_more(struct pci_input *input, pcol_error *err)
{
    const struct pci_input_state *s = input->state;
    size_t shown = (size_t)(input->data - s->raw) + input->size, left = s->raw_size - shown;
    size_t size = left < s->piece ? left : s->piece;
    input->size += size;
    input->end = size == left;
    return pci_control_progress(shown + size, s->raw_size, err);
}

int pci_input_memory(const struct pci_input *input, size_t *size)
{
    const struct pci_input_state *s = input->state;
    if (!is_memory(s) || s->inflate)
        return 0;
    *size = s->raw_size - (size_t)(input->data - s->raw);
    return 1;
}

pcol_status pci_input_more(struct pci_input *input, size_t consumed, pcol_error *err)
{
    struct pci_input_state *s = input->state;
    if (consumed > input->size)
        return pci_fail(err, PCOL_E_ARGUMENT, "more bytes consumed than are in the window");
    if (input->counting)
        input->characters += count_characters(input->data, consumed);
    input->data += consumed;
    input->size -= consumed;
    input->offset += consumed;
    if (input->end)
        return PCOL_OK;
    if (is_memory(s) && !s->inflate)
        return show_more(input, err);
    PCI_TRY(reserve(input, err));
    size_t used = (size_t)(input->data - s->buffer) + input->size, got;
    size_t wanted = read_size(input, s->capacity - used < s->piece ? s->capacity - used : s->piece);
    PCI_TRY(read_source(input, s->buffer + used, wanted, &got, err));
    s->total += got;
    if (s->total > s->limit)
        return fail_too_large(s, err);
    input->size += got;
    input->end = !got;
    return charge_budget(input, got, err);
}

/* ---- opening */

pcol_status pci_input_new_state(struct pci_input *input, const char *name,
                                const struct pci_input_options *options, pcol_error *err)
{
    memset(input, 0, sizeof *input);
    input->name = name ? name : "";
    input->data = (const uint8_t *)"";
    PCI_TRY(PCI_CALLOC(input->state, 1, err));
    struct pci_input_state *s = input->state;
    s->fd = -1;
    s->position = UINT64_MAX;
    s->piece = options && options->piece ? options->piece : DEFAULT_PIECE;
    s->limit = options && options->max_bytes ? options->max_bytes : DEFAULT_LIMIT;
    s->threads = options ? options->threads : 0;
    s->budget = options ? options->budget : NULL;
    if (s->limit == UINT64_MAX)
        s->limit--; /* so that limit + 1 bytes can be counted */
    return PCOL_OK;
}

/* After the first raw bytes were read: set up decompression if necessary, and fill the window. */
static pcol_status begin(struct pci_input *input, pcol_error *err)
{
    struct pci_input_state *s = input->state;
    enum pci_wrap wrap = pci_detect_wrap(s->raw, s->raw_size);
    if (wrap != PCI_WRAP_NONE) {
        struct pci_raw_reader raw = {read_raw, s};
        PCI_TRY(pci_inflate_new(raw, wrap, &s->inflate, err));
    } else if (is_memory(s)) {
        if (s->raw_size > s->limit)
            return fail_too_large(s, err);
        input->data = s->raw;
        raise_budget(s, s->raw_size);
    }
    while (input->size < 2 && !input->end)
        PCI_TRY(pci_input_more(input, 0, err));
    if (s->inflate && pci_detect_wrap(input->data, input->size) == PCI_WRAP_GZIP)
        return pci_fail(err, PCOL_E_FORMAT, "gzip inside gzip; unpack it once first");
    if (!s->inflate && !is_memory(s)) { /* move the raw bytes to the window */
        while (s->raw_at < s->raw_size)
            PCI_TRY(pci_input_more(input, 0, err));
        pci_free(s->raw_buffer);
        s->raw_buffer = NULL;
    }
    return PCOL_OK;
}

/* Reads the first raw bytes of a descriptor or reader. */
static pcol_status begin_reading(struct pci_input *input, const struct pci_input_options *options,
                                 pcol_error *err)
{
    struct pci_input_state *s = input->state;
    s->raw_buffer = pci_malloc(s->piece > 2 ? s->piece : 2, 1);
    if (!s->raw_buffer)
        return pci_fail_memory(err);
    s->raw = s->raw_buffer;
    if (options && options->start_size) {
        if (options->start_size > s->piece)
            return pci_fail(err, PCOL_E_ARGUMENT, "start_size is larger than a piece");
        memcpy(s->raw_buffer, options->start, options->start_size);
        s->raw_size = options->start_size;
        s->read_bytes = options->start_size;
    }
    for (size_t got = 1; s->raw_size < 2 && got; s->raw_size += got) {
        size_t wanted = s->piece > 2 ? s->piece - s->raw_size : 2 - s->raw_size;
        PCI_TRY(read_fd(s, s->raw_buffer + s->raw_size, wanted, &got, err));
    }
    return begin(input, err);
}

static pcol_status begin_fd(struct pci_input *input, const struct pci_input_options *options,
                            pcol_error *err)
{
    struct pci_input_state *s = input->state;
    struct stat info;
    if (fstat(s->fd, &info))
        return pci_fail_errno(err, "read");
    if (S_ISDIR(info.st_mode))
        return pci_fail(err, PCOL_E_IO, "is a directory");
    s->file = S_ISREG(info.st_mode) && s->own_fd;
    s->file_bytes = S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
    (void)posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* a hint: fails for pipes */
    return begin_reading(input, options, err);
}

static pcol_status close_unless_ok(struct pci_input *input, pcol_status status)
{
    if (status != PCOL_OK)
        pci_input_close(input);
    return status;
}

pcol_status pci_input_open_path(struct pci_input *input, const char *path,
                                const struct pci_input_options *options, pcol_error *err)
{
    PCI_TRY(pci_input_new_state(input, path, options, err));
    pcol_status status;
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd >= 0) {
        input->state->fd = fd;
        input->state->own_fd = 1;
        status = begin_fd(input, NULL, err);
    } else if (errno == ENXIO) {
        status = pcol_error_set(err, PCOL_E_IO, errno, "is a socket or a device without a driver");
    } else {
        status = pci_fail_errno(err, "open");
    }
    return close_unless_ok(input, status);
}

pcol_status pci_input_open_fd(struct pci_input *input, int fd, const char *name,
                              const struct pci_input_options *options, pcol_error *err)
{
    if (fd < 0) {
        memset(input, 0, sizeof *input);
        return pci_fail(err, PCOL_E_ARGUMENT, "not a file descriptor");
    }
    PCI_TRY(pci_input_new_state(input, name, options, err));
    input->state->fd = fd;
    return close_unless_ok(input, begin_fd(input, options, err));
}

pcol_status pci_input_open_reader(struct pci_input *input, pcol_reader reader, const char *name,
                                  const struct pci_input_options *options, pcol_error *err)
{
    PCI_TRY(pci_input_new_state(input, name, options, err));
    input->state->reader = reader;
    return close_unless_ok(input, begin_reading(input, options, err));
}

pcol_status pci_input_open_memory(struct pci_input *input, const void *data, size_t size,
                                  const char *name, const struct pci_input_options *options,
                                  pcol_error *err)
{
    PCI_TRY(pci_input_new_state(input, name, options, err));
    input->state->raw = data ? data : (const void *)"";
    input->state->raw_size = data ? size : 0;
    return close_unless_ok(input, begin(input, err));
}

void pci_input_close(struct pci_input *input)
{
    struct pci_input_state *s = input->state;
    if (s) {
        pci_read_pipe_free(s->ahead);
        if (s->own_fd)
            close(s->fd);
        pci_inflate_free(s->inflate);
        pci_free(s->raw_buffer);
        pci_free(s->buffer);
        pci_free(s);
    }
    memset(input, 0, sizeof *input);
}

void pci_input_grant(const struct pci_input *input)
{
    raise_budget(input->state, input->state->file_bytes);
}

int pci_input_is_file(const struct pci_input *input)
{
    return input->state->file && !input->state->inflate;
}

#define MAX_PREALLOCATED (UINT64_C(1) << 30)

/* Size of the remaining input if it is that of an uncompressed file, else 0. */
static size_t expected_rest(const struct pci_input *input)
{
    const struct pci_input_state *s = input->state;
    uint64_t size = s->inflate ? 0 : s->file_bytes;
    return size > input->offset && size - input->offset <= MAX_PREALLOCATED
               ? (size_t)(size - input->offset)
               : 0;
}

pcol_status pci_input_rest(struct pci_input *input, void **data, size_t *size, pcol_error *err)
{
    size_t capacity = 0, used = 0, wanted = expected_rest(input);
    void *all = NULL;
    *data = NULL;
    *size = 0;
    for (;;) {
        size_t needed = used + input->size + 1;
        if (pci_grow(&all, &capacity, needed > wanted ? needed : wanted + 1, 1)) {
            pci_free(all);
            return pci_fail_memory(err);
        }
        memcpy((uint8_t *)all + used, input->data, input->size);
        used += input->size;
        if (input->end)
            break;
        pcol_status status = pci_input_more(input, input->size, err);
        if (status != PCOL_OK) {
            pci_free(all);
            return status;
        }
    }
    *data = all;
    *size = used;
    return PCOL_OK;
}

void pci_input_convert_offset(const struct pci_input *input, pcol_error *err)
{
    if (!err || !input->state || !input->state->inflate)
        return;
    if (err->offset == PCOL_POSITION_UNKNOWN || err->inflated_offset != PCOL_POSITION_UNKNOWN)
        return;
    err->inflated_offset = err->offset;
    err->offset = PCOL_POSITION_UNKNOWN;
}
