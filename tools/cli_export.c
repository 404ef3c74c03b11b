/*
 * cli_export.c - profile output: a pcol file, or the format chosen by the name of the output
 *
 * All commands that write profiles use it, so that a name means the same format with the same
 * warnings. With --fail-on-loss a loss prevents all output: a file is not renamed into place, and
 * for standard output the export first runs with a sink that discards the bytes.
 */
#include "cli.h"
#include "cli_losses.h"

#include <stdlib.h>
#include <string.h>

/* "x.pb.gz" is compressed, "x.pb" is not; for other names the format decides. */
static unsigned compression(const char *output)
{
    if (output == NULL)
        return PCOL_COMPRESS_AUTO;
    return cli_ends_in(output, ".gz")   ? PCOL_COMPRESS_GZIP
           : cli_ends_in(output, ".pb") ? PCOL_COMPRESS_NONE
                                        : PCOL_COMPRESS_AUTO;
}

static pcol_status discard(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context;
    (void)data;
    (void)size;
    (void)err;
    return PCOL_OK;
}

/* Sink for a terminal: unsafe characters as \xNN, line by line; rejects binary data. */
struct screen {
    struct cli_out *out;
    int started;
    size_t partial_size; /* an incomplete character at the end of the last piece */
    char partial[4];
};

static pcol_status fail_binary(struct cli_out *out, pcol_error *err)
{
    memset(err, 0, sizeof *err);
    err->status = PCOL_E_IO;
    out->code = cli_fail(CLI_REFUSED, "binary output cannot go to a terminal; use -o OUT");
    return PCOL_E_IO;
}

static void show(struct cli_out *out, const char *text, size_t size)
{
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        size_t part = end != NULL ? (size_t)(end - text) : size;
        cli_out_safe(out, text, part);
        if (end != NULL) {
            cli_out_write(out, "\n", 1);
            part++;
        }
        text += part;
        size -= part;
    }
}

/* Number of bytes at the end that begin an incomplete character. */
static size_t open_end(const char *text, size_t size)
{
    for (size_t back = 1; back <= 3 && back <= size; back++) {
        unsigned char byte = (unsigned char)text[size - back];
        if (byte >= 0xc0) {
            size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
            return length > back ? back : 0;
        }
        if (byte < 0x80)
            return 0;
    }
    return 0;
}

static pcol_status screen_write(void *context, const void *data, size_t size, pcol_error *err)
{
    struct screen *screen = context;
    const char *text = data;

    if (!screen->started && size > 0) {
        screen->started = 1;
        if (memchr(data, 0, size) != NULL || (unsigned char)*text == 0x1f)
            return fail_binary(screen->out, err);
    }
    while (screen->partial_size > 0 && size > 0 && ((unsigned char)*text & 0xc0u) == 0x80u &&
           screen->partial_size < sizeof screen->partial) {
        screen->partial[screen->partial_size++] = *text++;
        size--;
        if (open_end(screen->partial, screen->partial_size) == 0)
            break;
    }
    if (screen->partial_size > 0 &&
        (size > 0 || open_end(screen->partial, screen->partial_size) == 0)) {
        show(screen->out, screen->partial, screen->partial_size);
        screen->partial_size = 0;
    }
    size_t incomplete = open_end(text, size);
    show(screen->out, text, size - incomplete);
    if (incomplete > 0) {
        memcpy(screen->partial, text + size - incomplete, incomplete);
        screen->partial_size = incomplete;
    }
    return PCOL_OK;
}

int cli_fraction(const char *option, const char *text, double *share)
{
    char *end;

    *share = 0;
    if (text == NULL)
        return CLI_OK;
    *share = strtod(text, &end);
    if (end == text || *end != '\0' || !(*share >= 0 && *share <= 1))
        return cli_usage("%s: '%s' is not a number from 0 to 1", option, text);
    *share = *share > 0 ? *share : -1; /* no limit */
    return CLI_OK;
}

static int export_to(const struct cli_input *input, const struct cli_args *args, const char *format,
                     struct losses *losses, struct cli_out *out, pcol_sink sink)
{
    pcol_export_options options = PCOL_INIT(pcol_export_options);
    struct cli_notices notices = {args, input->name, losses, 0};
    pcol_control control = cli_control(&notices);
    pcol_error err;

    options.source_id = args->source == CLI_UNSET ? 0 : args->source;
    options.sample_type = args->sample_type;
    options.expand_idle = args->expand_idle;
    options.compress = compression(args->output);
    options.keep_dropped = args->keep_dropped;
    options.threads = cli_threads(args);
    options.control = &control;
    options.node_count = args->node_count == CLI_UNSET        ? 0
                         : args->node_count - 1 >= UINT32_MAX ? UINT32_MAX /* 0: all */
                                                              : (uint32_t)args->node_count;
    (void)cli_fraction("--node-fraction", args->node_fraction, &options.node_fraction);
    (void)cli_fraction("--edge-fraction", args->edge_fraction, &options.edge_fraction);
    losses_clear(losses);
    if (input->loss[0] != '\0')
        losses_add(losses, input->loss, "", NULL);
    if (pcol_export(input->file, format, &options, sink, &err) == PCOL_OK)
        return CLI_OK;
    if (out != NULL && out->code != 0)
        return out->code;
    return cli_fail_error(input->name, &err);
}

static int refuse_loss(const struct cli_input *input, const struct cli_args *args,
                       const char *format, const struct losses *losses)
{
    losses_warn(losses, args, input->name);
    return cli_fail(CLI_REFUSED, "%s: %s cannot represent everything; nothing was written",
                    input->name, format);
}

int cli_export(const struct cli_input *input, const char *format, const struct cli_args *args,
               struct cli_out *out)
{
    static struct screen screen;
    struct losses losses = {0};
    int is_reported = 0, code = CLI_OK;
    pcol_sink nothing = {discard, NULL};
    pcol_sink sink = cli_out_sink(out);

    if (out->terminal) {
        memset(&screen, 0, sizeof screen);
        screen.out = out;
        sink.write = screen_write;
        sink.context = &screen;
    }
    if (args->fail_on_loss && out->file == NULL) {
        code = export_to(input, args, format, &losses, NULL, nothing);
        if (code == CLI_OK && losses.count > 0)
            code = refuse_loss(input, args, format, &losses);
        is_reported = 1;
    }
    if (code == CLI_OK) {
        cli_progress_begin(args, 1);
        code = export_to(input, args, format, &losses, out, sink);
        cli_progress_end();
    }
    if (code == CLI_OK && out->terminal)
        show(out, screen.partial, screen.partial_size);
    if (code == CLI_OK && args->fail_on_loss && losses.count > 0)
        code = refuse_loss(input, args, format, &losses);
    else if (code == CLI_OK && !is_reported)
        losses_warn(&losses, args, input->name);
    if (code == CLI_OK && losses.warning[0] != '\0')
        cli_warn(args, input->name, losses.warning);
    losses_clear(&losses);
    return code;
}

/* ---- output of a builder ---- */

static int export_built(pcol_builder *builder, const char *format, const struct cli_args *args,
                        struct cli_out *out)
{
    struct cli_input input = {.name = out->name};
    pcol_error err;

    if (pcol_builder_file(builder, PCOL_WRITE_QUICK, NULL, &input.file, &err) != PCOL_OK)
        return cli_fail_error(out->name, &err);
    int code = cli_export(&input, format, args, out);
    cli_input_close(&input);
    return code;
}

int cli_write_profile(pcol_builder *builder, const pcol_format *format, const struct cli_args *args,
                      struct cli_out *out)
{
    pcol_error err;
    unsigned flags;
    int code = cli_write_flags(args, &flags);

    if (code != CLI_OK)
        return code;
    if (format != NULL)
        return export_built(builder, format->name, args, out);
    cli_progress_begin(args, 1);
    if (pcol_builder_write(builder, flags, NULL, cli_out_sink(out), &err) != PCOL_OK)
        code = out->code != 0 ? out->code : cli_fail_error(out->name, &err);
    cli_progress_end();
    return code;
}

int cli_profile_output(const struct cli_args *args, const pcol_format **format)
{
    unsigned flags;
    int code = cli_write_flags(args, &flags); /* before any work */

    if (code == CLI_OK)
        code = cli_profile_by_name(args, format);
    if (code == CLI_OK && *format == NULL && cli_is_file_name(args->output) &&
        (code = cli_reject_text_name(args)) != CLI_OK)
        return code;
    if (code == CLI_OK && *format != NULL && (args->plain || args->archive.count > 0))
        return cli_usage("%s: --plain and --archive are for pcol files, not for %s", args->output,
                         (*format)->name);
    return code;
}
