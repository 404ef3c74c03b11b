/*
 * cli_hint.c - names of the command's options, which are appended to messages of the library
 *
 * The library names members of its structs (pcol_error.option, pcol_notice.option). One row for
 * each member that an option of the command sets.
 */
#include "cli.h"

#include <string.h>

static const struct {
    const char *member, *option;
    const char *use; /* appended to the option where it helps: "--lenient accepts it" */
} options[] = {
    {"focus", "--focus", ""},
    {"ignore", "--ignore", ""},
    {"hide", "--hide", ""},
    {"show", "--show", ""},
    {"thread", "--thread", " chooses"},
    {"source", "--source", " selects one"},
    {"source_metas", "--source-meta", ""},
    {"labels", "--label", " chooses"},
    {"time_from_ns", "--time", " chooses"},
    {"order_from", "--order", ""},
    {"sample_type", "--sample-type", " chooses"},
    {"node_count", "--node-count, --node-fraction, --edge-fraction", ""},
    {"keep_dropped", "--keep-dropped", " keeps all frames"},
    {"format", "--from", " chooses one"},
    {"lenient", "--lenient", " accepts it"},
    {"max_input_bytes", "--max-input", ""},
    {"PCOL_IMPORT_TRUSTED", "--trusted", ""},
};

const char *cli_hint(const char *member, int is_cause, char text[CLI_HINT_SIZE])
{
    text[0] = '\0';
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (member != NULL && strcmp(options[i].member, member) == 0)
            snprintf(text, CLI_HINT_SIZE, " (%s%s)", options[i].option,
                     is_cause ? "" : options[i].use);
    return text;
}
