/*
 * toolkit.c - memory, errors, notices, opening, packing, exporting and checking
 */
#include "toolkit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t toolkit_record[RECORD_SLOTS];
pcol_error toolkit_failure;

/* ---- memory ---- */

void record_pointer(int slot, const void *pointer)
{
    toolkit_record[slot] = (uintptr_t)pointer;
}

void record_text(int slot, pcol_str text)
{
    record_pointer(slot, text.data);
    toolkit_record[slot + 1] = text.size;
}

EXPORT(toolkit_record) void *toolkit_record_address(void)
{
    return toolkit_record;
}

EXPORT(toolkit_allocate) void *toolkit_allocate(size_t size)
{
    return malloc(size ? size : 1);
}

EXPORT(toolkit_release) void toolkit_release(void *memory)
{
    free(memory);
}

pcol_status bytes_append(struct bytes *bytes, const void *data, size_t size)
{
    if (size > bytes->capacity - bytes->size) {
        size_t wanted = bytes->size + size + bytes->capacity / 2 + 4096;
        uint8_t *grown = wanted < bytes->size ? NULL : realloc(bytes->data, wanted);
        if (!grown)
            return PCOL_E_NO_MEMORY;
        bytes->data = grown;
        bytes->capacity = wanted;
    }
    if (size)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
    return PCOL_OK;
}

static pcol_status write_bytes(void *context, const void *data, size_t size, pcol_error *err)
{
    if (bytes_append(context, data, size) == PCOL_OK)
        return PCOL_OK;
    return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
}

pcol_sink bytes_sink(struct bytes *bytes)
{
    return (pcol_sink){write_bytes, bytes};
}

/* Passes the bytes to the caller, who releases them; NULL after a failure. */
static void *give_bytes(struct bytes *bytes, pcol_status status)
{
    if (status != PCOL_OK) {
        free(bytes->data);
        return NULL;
    }
    toolkit_record[0] = bytes->size;
    return bytes->data ? bytes->data : toolkit_allocate(0);
}

/* ---- errors and notices ---- */

/* Slots: status, errno, its name, place and message. */
EXPORT(toolkit_error) void toolkit_error(void)
{
    static char place[192];
    pcol_error_place(&toolkit_failure, place, sizeof place);
    toolkit_record[0] = (uint64_t)toolkit_failure.status;
    toolkit_record[1] = (uint64_t)toolkit_failure.os_error;
    record_pointer(2, pcol_status_name(toolkit_failure.status));
    record_pointer(3, place);
    record_pointer(4, toolkit_failure.message);
}

static struct bytes notices; /* code, format, subject, text, each ending in NUL */

static void add_text(const char *text)
{
    (void)bytes_append(&notices, text, strlen(text) + 1); /* out of memory: the notice is lost */
}

static void add_notice(void *context, const pcol_notice *notice)
{
    char code[16];
    (void)context;
    snprintf(code, sizeof code, "%d", (int)notice->code);
    add_text(code);
    add_text(notice->format);
    add_text(notice->subject);
    add_text(notice->text);
}

const pcol_control toolkit_control = {.size = sizeof(pcol_control), .notice = add_notice};

/* Slot 0: bytes. The next call discards them. */
EXPORT(toolkit_notices) const void *toolkit_notices(void)
{
    toolkit_record[0] = notices.size;
    notices.size = 0;
    return notices.data;
}

/* ---- opening and packing ---- */

static pcol_import_options import_options(const struct request *request)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    options.format = request_text(request, "from");
    options.uri = request_text(request, "uri");
    options.lenient = request_flag(request, "lenient");
    options.collapse_idle = request_flag(request, "collapseIdle");
    options.flags = request_flag(request, "trusted") ? PCOL_IMPORT_TRUSTED : 0;
    options.max_input_bytes = (uint64_t)request_integer(request, "maxInput", 0);
    options.control = &toolkit_control;
    return options;
}

static const char *input_name(const struct request *request)
{
    const char *name = request_text(request, "name");
    return name ? name : "profile";
}

EXPORT(toolkit_open)
pcol_file *toolkit_open(const void *data, size_t size, const char *text, size_t text_size)
{
    struct request request = {text, text_size};
    pcol_import_options options = import_options(&request);
    pcol_file *file;
    if (pcol_open_any_memory(data, size, input_name(&request), &options, &file, &toolkit_failure) !=
        PCOL_OK)
        return NULL;
    unsigned major, minor;
    pcol_file_version(file, &major, &minor);
    toolkit_record[0] = (uint64_t)pcol_file_is_imported(file);
    toolkit_record[1] = (uint64_t)pcol_file_is_archive(file);
    toolkit_record[2] = pcol_file_size(file);
    toolkit_record[3] = major;
    toolkit_record[4] = minor;
    return file;
}

EXPORT(toolkit_close) void toolkit_close(pcol_file *file)
{
    pcol_file_close(file);
}

static pcol_status pack(const pcol_file *file, const void *data, size_t size,
                        const struct request *request, struct bytes *bytes)
{
    pcol_import_options options = import_options(request);
    unsigned flags = (request_flag(request, "plain") ? PCOL_WRITE_PLAIN : 0) |
                     (request_flag(request, "archive") ? PCOL_WRITE_ARCHIVE : 0);
    pcol_builder *builder;
    pcol_status status = pcol_builder_new(NULL, &builder, &toolkit_failure);
    if (status != PCOL_OK)
        return status;
    status = file ? pcol_builder_add_file(builder, file, &options, &toolkit_failure)
                  : pcol_import_memory(builder, data, size, input_name(request), &options,
                                       &toolkit_failure);
    if (status == PCOL_OK)
        status = pcol_builder_write(builder, flags, &toolkit_control, bytes_sink(bytes),
                                    &toolkit_failure);
    pcol_builder_free(builder);
    return status;
}

/* The bytes of a pcol file, of an open file or, if `file` is NULL, of a profile in any format. */
EXPORT(toolkit_pack)
void *toolkit_pack(const pcol_file *file, const void *data, size_t size, const char *text,
                   size_t text_size)
{
    struct request request = {text, text_size};
    struct bytes bytes = {0};
    return give_bytes(&bytes, pack(file, data, size, &request, &bytes));
}

/* ---- exporting and checking ---- */

EXPORT(toolkit_export)
void *toolkit_export(const pcol_file *file, const char *text, size_t text_size)
{
    struct request request = {text, text_size};
    struct bytes bytes = {0};
    pcol_export_options options = PCOL_INIT(pcol_export_options);
    options.source_id = (uint64_t)request_integer(&request, "source", 0);
    options.sample_type = request_text(&request, "sampleType");
    options.compress = (unsigned)request_integer(&request, "compress", PCOL_COMPRESS_AUTO);
    options.expand_idle = request_flag(&request, "expandIdle");
    options.keep_dropped = request_flag(&request, "keepDropped");
    options.control = &toolkit_control;
    return give_bytes(&bytes, pcol_export(file, request_text(&request, "to"), &options,
                                          bytes_sink(&bytes), &toolkit_failure));
}

/* Slots: name, summary, suffixes, keeps, reads, writes. 0: no such format. */
EXPORT(toolkit_format) int toolkit_format(size_t index)
{
    const pcol_format *format = pcol_format_at(index);
    if (!format)
        return 0;
    record_pointer(0, format->name);
    record_pointer(1, format->summary);
    record_pointer(2, format->suffixes);
    record_pointer(3, format->keeps);
    toolkit_record[4] = (uint64_t)format->reads;
    toolkit_record[5] = (uint64_t)format->writes;
    return 1;
}

static int add_fault(void *context, const pcol_fault *fault)
{
    char row[24] = "";
    (void)context;
    if (fault->row != PCOL_POSITION_UNKNOWN)
        snprintf(row, sizeof row, "%llu", (unsigned long long)fault->row);
    add_text(fault->note ? "note" : "fault");
    add_text(fault->table);
    add_text(fault->column);
    add_text(row);
    add_text(fault->message);
    return 0;
}

/* Faults and notes are appended to toolkit_notices(): kind, table, column, row, message. Slot 0:
 * faults. 0: the check failed. */
EXPORT(toolkit_check) int toolkit_check(const pcol_file *file, int depth)
{
    return pcol_file_check(file, (pcol_check_depth)depth, add_fault, NULL, NULL, toolkit_record,
                           &toolkit_failure) == PCOL_OK;
}

EXPORT(toolkit_version) const char *toolkit_version(void)
{
    return pcol_version();
}
