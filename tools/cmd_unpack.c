/*
 * cmd_unpack.c - unpack: a profile in another format
 *
 * Under --fail-on-loss nothing may be written if anything is lost. A file is simply not put in
 * place; stdout gets nothing because the export runs into nothing first.
 */
#include "cmd.h"
#include "cmd_unpack_losses.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

const struct cli_option cmd_unpack_options[] = {
    {0, "to", "FORMAT", "the format to write (default: by OUT's name)", CLI_TEXT, CLI_AT(to), 0,
     CLI_CHOICES_WRITE},
    CLI_OPTION_OUTPUT,
    CLI_OPTION_FORCE,
    {0, "source", "ID|RE", "only the source of this id, or those whose uri matches", CLI_TEXT,
     CLI_AT(pick_source), 0, NULL},
    {0, "sample-type", "TYPE",
     "for a format of one sample type: which (default: the profile's own)", CLI_TEXT,
     CLI_AT(sample_type), 0, NULL},
    {0, "fail-on-loss", NULL, "write nothing if the format cannot hold everything; exit code 5",
     CLI_FLAG, CLI_AT(fail_on_loss), 1, NULL},
    {0, "expand-idle", NULL,
     "firefox, jslb: joined samples as all of them, not as the first and the others at the end",
     CLI_FLAG, CLI_AT(expand_idle), 1, NULL},
    CLI_OPTIONS_FRAMES,
    CLI_OPTIONS_SAMPLES,
    CLI_OPTION_NO_SYNC,
    CLI_OPTION_FROM,
    CLI_OPTION_STRICT_IMPORT,
    CLI_OPTION_LENIENT,
    CLI_OPTION_END,
};

/* ---- the format ---- */

static int ends_in(const char *name, const char *suffix)
{
    size_t size = strlen(name);
    size_t length = strlen(suffix);

    return size > length && strcasecmp(name + size - length, suffix) == 0;
}

/* "x.pb.gz" is compressed, "x.pb" is not; other names leave it to the format. */
static unsigned compression(const char *output)
{
    if (output == NULL)
        return PCOL_COMPRESS_AUTO;
    return ends_in(output, ".gz")   ? PCOL_COMPRESS_GZIP
           : ends_in(output, ".pb") ? PCOL_COMPRESS_NONE
                                    : PCOL_COMPRESS_AUTO;
}

/* Length of the longest of the format's suffixes that the name, without ".gz", ends in. */
static size_t suffix_match(const pcol_format *format, const char *name)
{
    size_t longest = 0;
    size_t size = strlen(name) - (ends_in(name, ".gz") ? 3 : 0);
    const char *at = format->suffixes;

    while (at != NULL && *at != '\0') {
        size_t length = strcspn(at, " ");
        if (length > longest && length < size && strncasecmp(name + size - length, at, length) == 0)
            longest = length;
        at += length;
        at += strspn(at, " ");
    }
    return longest;
}

/* source_type of the source that is written; "" if it cannot be told. */
static void own_format(const pcol_file *file, uint64_t source, char *type, size_t size)
{
    const pcol_table *table;
    const pcol_column *column;
    pcol_str text;
    int valid = 0;
    uint64_t row = source == CLI_UNSET || source == 0 ? 0 : source - 1;

    type[0] = '\0';
    if (pcol_file_table_by_name(file, PCOL_MODEL_V2, "sources", &table, NULL) != PCOL_OK ||
        (column = pcol_table_column_by_name(table, "source_type", NULL)) == NULL ||
        row >= pcol_table_rows(table) ||
        pcol_column_str(column, row, &text, &valid, NULL) != PCOL_OK || !valid || text.size >= size)
        return;
    memcpy(type, text.data, text.size);
    type[text.size] = '\0';
}

static int is_folder(const char *name)
{
    struct stat info;
    size_t size = strlen(name);

    return (size > 0 && name[size - 1] == '/') || (stat(name, &info) == 0 && S_ISDIR(info.st_mode));
}

/* `-o DIR`: there under the input's name, with the format's first suffix for its extensions. *made
 * is to be freed. */
static int name_in_folder(struct cli_args *args, const char *format, char **made)
{
    const char *input = args->operands[0], *slash = strrchr(input, '/');
    const char *base = slash != NULL ? slash + 1 : input, *suffix = "";
    const char *folder = args->output;
    const pcol_format *f;

    for (size_t i = 0; (f = pcol_format_at(i)) != NULL; i++)
        if (strcmp(f->name, format) == 0)
            suffix = f->suffixes;
    if (strcmp(input, "-") == 0)
        return cli_usage("-o %s is a folder, and standard input has no name for a file there",
                         folder);
    size_t size = strlen(base), before = strlen(folder), end = strcspn(suffix, " ");
    size -= ends_in(base, ".gz") ? 3 : 0;
    for (size_t i = size; i-- > 1;)
        if (base[i] == '.') {
            size = i;
            break;
        }
    const char *zipped = strcmp(format, "pprof") == 0 ? ".gz" : "";
    size_t room = before + size + end + 8;
    *made = malloc(room);
    if (*made == NULL)
        return cli_fail_memory();
    snprintf(*made, room, "%s%s%.*s%.*s%s", folder, folder[before - 1] != '/' ? "/" : "", (int)size,
             base, (int)end, suffix, zipped);
    args->output = *made;
    return CLI_OK;
}

/* By --to, else by the output's name; of several formats with that suffix the profile's own. */
static int choose_format(const struct cli_args *args, const pcol_file *file, const char **name)
{
    char own[64];
    size_t longest = 0;
    size_t found = 0;
    const pcol_format *format;

    *name = args->to;
    if (args->to != NULL)
        return CLI_OK;
    if (args->output == NULL || strcmp(args->output, "-") == 0)
        return cli_usage("--to FORMAT or -o OUT says what to write; `pcol formats` lists formats");
    if (is_folder(args->output))
        return cli_usage("%s is a folder: --to FORMAT says what to write into it", args->output);
    own_format(file, args->source, own, sizeof own);
    for (size_t i = 0; (format = pcol_format_at(i)) != NULL; i++) {
        size_t match = format->writes ? suffix_match(format, args->output) : 0;
        if (match == 0 || match < longest)
            continue;
        if (match > longest)
            found = 0;
        longest = match;
        if (found++ == 0 || strcmp(format->name, own) == 0)
            *name = format->name;
    }
    if (found == 0)
        return cli_usage("%s: no format has names that end so; say which with --to", args->output);
    if (found > 1 && strcmp(*name, own) != 0)
        return cli_usage("%s: several formats have such names, --to says which", args->output);
    return CLI_OK;
}

/* ---- exporting ---- */

static void on_loss(void *context, const char *message)
{
    losses_add(context, message);
}

static pcol_status discard(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context;
    (void)data;
    (void)size;
    (void)err;
    return PCOL_OK;
}

/* A terminal shows text with everything unsafe as \xNN, line by line, and refuses what is none. */
struct screen {
    struct cli_out *out;
    int started;
    size_t held; /* the beginning of a character whose end is in the next piece */
    char hold[4];
};

static pcol_status fail_binary(struct cli_out *out, pcol_error *err)
{
    memset(err, 0, sizeof *err);
    err->status = PCOL_E_IO;
    out->code = cli_fail(CLI_REFUSED, "binary output is not written to a terminal, use -o");
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

/* Bytes at the end that begin a character without ending it. */
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
    while (screen->held > 0 && size > 0 && ((unsigned char)*text & 0xc0u) == 0x80u &&
           screen->held < sizeof screen->hold) {
        screen->hold[screen->held++] = *text++;
        size--;
        if (open_end(screen->hold, screen->held) == 0)
            break;
    }
    if (screen->held > 0 && (size > 0 || open_end(screen->hold, screen->held) == 0)) {
        show(screen->out, screen->hold, screen->held);
        screen->held = 0;
    }
    size_t rest = open_end(text, size);
    show(screen->out, text, size - rest);
    if (rest > 0) {
        memcpy(screen->hold, text + size - rest, rest);
        screen->held = rest;
    }
    return PCOL_OK;
}

static int export_to(const struct cli_input *input, const struct cli_args *args, const char *format,
                     struct losses *losses, struct cli_out *out, pcol_sink sink)
{
    pcol_export_options options = PCOL_INIT(pcol_export_options);
    pcol_error err;

    options.source_id = args->source == CLI_UNSET ? 0 : args->source;
    options.sample_type = args->sample_type;
    options.expand_idle = args->expand_idle;
    options.compress = compression(args->output);
    options.loss = on_loss;
    options.threads = cli_threads(args);
    options.context = losses;
    losses_clear(losses);
    if (pcol_export(input->file, format, &options, sink, &err) == PCOL_OK)
        return CLI_OK;
    if (out != NULL && out->code != 0)
        return out->code;
    return cli_fail_error(input->name, &err);
}

static int refuse_loss(const struct cli_input *input, const struct cli_args *args,
                       const char *format, const struct losses *losses)
{
    losses_tell(losses, args, input->name);
    return cli_fail(CLI_REFUSED, "%s: %s cannot hold everything, nothing was written", input->name,
                    format);
}

static int export(const struct cli_input *input, const char *format, const struct cli_args *args)
{
    static struct cli_out out;
    static struct screen screen;
    struct losses losses = {0};
    int told = 0;
    pcol_sink nothing = {discard, NULL};
    int code = cli_out_open(&out, args);

    if (code != CLI_OK)
        return code;
    pcol_sink sink = cli_out_sink(&out);
    if (out.terminal) {
        memset(&screen, 0, sizeof screen);
        screen.out = &out;
        sink.write = screen_write;
        sink.context = &screen;
    }
    if (args->fail_on_loss && out.file == NULL) {
        code = export_to(input, args, format, &losses, NULL, nothing);
        if (code == CLI_OK && losses.count > 0)
            code = refuse_loss(input, args, format, &losses);
        told = 1;
    }
    if (code == CLI_OK) {
        cli_progress_begin(args, 1);
        code = export_to(input, args, format, &losses, &out, sink);
        cli_progress_end();
    }
    if (code == CLI_OK && out.terminal)
        show(&out, screen.hold, screen.held);
    if (code == CLI_OK && args->fail_on_loss && losses.count > 0)
        code = refuse_loss(input, args, format, &losses);
    else if (code == CLI_OK && !told)
        losses_tell(&losses, args, input->name);
    losses_clear(&losses);
    return cli_out_finish(&out, code);
}

/* --source and --sample-type alone are for the exporter, which knows more of them. */
static int selects(const struct cli_args *args)
{
    struct cli_args others = *args;

    others.sample_type = NULL;
    return cli_selects(&others);
}

static int select_part(struct cli_input *input, struct cli_args *args)
{
    struct cli_args part = *args;
    char source[CLI_NUMBER_SIZE];

    part.sample_type = NULL;
    if (args->source != CLI_UNSET) {
        source[cli_format_u64(source, args->source)] = '\0';
        part.pick_source = source;
        args->source = CLI_UNSET; /* it is the only one then */
    }
    return cli_input_filter(input, &part);
}

int cmd_unpack(struct cli_args *args)
{
    struct cli_input input;
    const char *format;
    char *made = NULL;
    int code;

    if (args->pick_source != NULL && cli_parse_u64(args->pick_source, &args->source) == 0)
        args->pick_source =
            NULL; /* one whole source is for the exporter, which may have it as it was */
    if (args->source == 0)
        return cli_usage("--source: ids start at 1");
    code = cli_input_open(&input, args->operands[0], args);
    if (code != CLI_OK)
        return code;
    code = choose_format(args, input.file, &format);
    if (code == CLI_OK && args->output != NULL && is_folder(args->output))
        code = name_in_folder(args, format, &made);
    if (code == CLI_OK && selects(args))
        code = select_part(&input, args);
    if (code == CLI_OK)
        code = export(&input, format, args);
    if (code == CLI_OK && made != NULL)
        cli_verbose(args, "%s: written", made);
    cli_input_close(&input);
    free(made);
    return code;
}
