/*
 * error.c - constructors of a pcol_error, texts of statuses and error positions
 *
 * Every error is first reset, so that an unknown field is always PCOL_POSITION_UNKNOWN, 0 or "".
 * Names and messages that are too long are truncated at a character boundary of UTF-8.
 */
#include "util/error.h"
#include "util/control.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The macros of error.h are for callers only. */
#undef pci_fail
#undef pci_fail_at_byte
#undef pci_fail_text
#undef pci_fail_cell

#define TEXT_OF(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *pcol_version(void)
{
    return VERSION_TEXT(PCOL_VERSION_MAJOR, PCOL_VERSION_MINOR, PCOL_VERSION_PATCH)
        PCOL_VERSION_SUFFIX;
}

const char *pcol_status_name(pcol_status status)
{
    switch (status) {
#define NAME(name, value, text) \
    case PCOL_##name:           \
        return #name;
        PCOL_STATUS_LIST(NAME)
#undef NAME
    }
    return "E_UNKNOWN";
}

const char *pcol_status_text(pcol_status status)
{
    switch (status) {
#define TEXT(name, value, text) \
    case PCOL_##name:           \
        return text;
        PCOL_STATUS_LIST(TEXT)
#undef TEXT
    }
    return "unknown error";
}

/* Drop a UTF-8 character that was cut off at the end. */
static void drop_partial_character(char *text)
{
    size_t size = strlen(text), lead = size;
    while (lead > 0 && size - lead < 4) {
        unsigned char c = (unsigned char)text[--lead];
        if ((c & 0xc0) == 0x80)
            continue;
        size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
        if (size - lead < length)
            text[lead] = '\0';
        return;
    }
}

static void copy_name(char *to, size_t size, const char *from)
{
    size_t length = from ? strlen(from) : 0;
    if (length < size) {
        memcpy(to, from ? from : "", length + 1);
        return;
    }
    memcpy(to, from, size - 1);
    to[size - 1] = '\0';
    drop_partial_character(to);
}

/* Formatted into a local buffer first: the arguments may point into *err. */
__attribute__((format(printf, 3, 0))) static void fill(pcol_error *err, pcol_status status,
                                                       const char *format, va_list arguments)
{
    char message[sizeof err->message];
    int length = vsnprintf(message, sizeof message, format, arguments);
    if (length < 0)
        message[0] = '\0';
    else if ((size_t)length >= sizeof message)
        drop_partial_character(message);
    memset(err, 0, sizeof *err);
    err->status = status;
    err->offset = PCOL_POSITION_UNKNOWN;
    err->inflated_offset = PCOL_POSITION_UNKNOWN;
    err->row = PCOL_POSITION_UNKNOWN;
    memcpy(err->message, message, strlen(message) + 1);
}

pcol_status pci_fail(pcol_error *err, pcol_status status, const char *format, ...)
{
    if (err) {
        va_list arguments;
        va_start(arguments, format);
        fill(err, status, format, arguments);
        va_end(arguments);
    }
    return status;
}

pcol_status pci_fail_at_byte(pcol_error *err, pcol_status status, uint64_t offset,
                             const char *format, ...)
{
    if (err) {
        va_list arguments;
        va_start(arguments, format);
        fill(err, status, format, arguments);
        va_end(arguments);
        err->offset = offset;
    }
    return status;
}

pcol_status pci_fail_text(pcol_error *err, pcol_status status, uint64_t line, uint64_t column,
                          const char *format, ...)
{
    if (err) {
        va_list arguments;
        va_start(arguments, format);
        fill(err, status, format, arguments);
        va_end(arguments);
        err->line = line;
        err->text_column = column;
    }
    return status;
}

void pci_error_set_option(pcol_error *err, const char *option)
{
    if (err)
        copy_name(err->option, sizeof err->option, option);
}

pcol_status pci_sink_write(pcol_sink sink, const void *data, size_t size, pcol_error *err)
{
    pcol_error error; /* default, for a sink that fails without filling its error */
    (void)pci_fail(&error, PCOL_E_IO, "the output could not be written: its sink failed");
    pcol_status status = sink.write(sink.context, data, size, &error);
    if (status == PCOL_OK)
        return pci_work(size, err);
    if (err) {
        *err = error;
        err->status = status;
    }
    return status;
}

pcol_status pci_fail_cell(pcol_error *err, pcol_status status, const char *table,
                          const char *column, uint64_t row, const char *format, ...)
{
    if (err) {
        char names[2][sizeof err->table];
        va_list arguments;
        copy_name(names[0], sizeof names[0], table);
        copy_name(names[1], sizeof names[1], column);
        va_start(arguments, format);
        fill(err, status, format, arguments);
        va_end(arguments);
        memcpy(err->table, names[0], sizeof err->table);
        memcpy(err->column, names[1], sizeof err->column);
        err->row = row;
    }
    return status;
}

pcol_status pci_fail_errno(pcol_error *err, const char *action)
{
    char reason[128];
    int number = errno;
    if (strerror_r(number, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", number);
    pcol_status status = number == ENOMEM ? PCOL_E_NO_MEMORY : PCOL_E_IO;
    (void)pci_fail(err, status, "cannot %s: %s", action, reason);
    if (err)
        err->os_error = number;
    return status;
}

pcol_status pcol_error_set(pcol_error *err, pcol_status status, int os_error, const char *format,
                           ...)
{
    if (status == PCOL_OK || !strcmp(pcol_status_name(status), "E_UNKNOWN"))
        status = PCOL_E_ARGUMENT;
    if (!err)
        return status;
    if (format) {
        va_list arguments;
        va_start(arguments, format);
        fill(err, status, format, arguments);
        va_end(arguments);
    } else {
        (void)pci_fail(err, status, "%s", pcol_status_text(status));
    }
    err->os_error = os_error;
    return status;
}

/* "table T, column C, row R", without the unknown parts. */
static void format_cell(const pcol_error *err, char *text, size_t size)
{
    char row[32] = "";
    if (err->row != PCOL_POSITION_UNKNOWN)
        snprintf(row, sizeof row, "row %" PRIu64, err->row);
    snprintf(text, size, "%s%s%s%s%s%s%s", err->table[0] ? "table " : "", err->table,
             err->table[0] && err->column[0] ? ", " : "", err->column[0] ? "column " : "",
             err->column, row[0] && (err->table[0] || err->column[0]) ? ", " : "", row);
}

const char *pcol_error_place(const pcol_error *err, char *text, size_t size)
{
    if (!text || size == 0)
        return "";
    text[0] = '\0';
    if (!err)
        return text;
    if (err->line && err->text_column)
        snprintf(text, size, "%" PRIu64 ":%" PRIu64, err->line, err->text_column);
    else if (err->line)
        snprintf(text, size, "%" PRIu64, err->line);
    else if (err->table[0] || err->column[0] || err->row != PCOL_POSITION_UNKNOWN)
        format_cell(err, text, size);
    else if (err->offset != PCOL_POSITION_UNKNOWN && err->inflated_offset != PCOL_POSITION_UNKNOWN)
        snprintf(text, size, "byte %" PRIu64 " (inflated %" PRIu64 ")", err->offset,
                 err->inflated_offset);
    else if (err->offset != PCOL_POSITION_UNKNOWN)
        snprintf(text, size, "byte %" PRIu64, err->offset);
    else if (err->inflated_offset != PCOL_POSITION_UNKNOWN)
        snprintf(text, size, "byte %" PRIu64 " of the decompressed input", err->inflated_offset);
    return text;
}
