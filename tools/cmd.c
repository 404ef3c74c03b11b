/*
 * cmd.c - the table of commands
 *
 * Lines of `details` that begin with a blank stand in the help as they are; the others are
 * paragraphs, which are filled.
 */
#include "cmd.h"

#include <string.h>
#include <unistd.h>

const struct cmd cmd_table[] = {
    {"Convert", "pack", NULL, "IN... [-o OUT.pcol]", "write a pcol file from profiles",
     cmd_pack_options,
     "Several inputs become several sources of one file. Without -o the output stands beside the\n"
     "input, with .pcol in place of its extensions; stdin goes to stdout. Inputs are recognised "
     "by\n"
     "content, then by name; gzip and zlib are transparent; a .pcol among them is merged as\n"
     "it is. For other formats than pcol see unpack and merge.\n"
     "\n"
     "  pcol pack run.out -o run.pcol --meta host=build7\n"
     "  pcol pack --each -o packed/ *.Rprof\n",
     1, CMD_ANY, cmd_pack},
    {"Convert", "unpack", NULL, "FILE [--to FORMAT] [-o OUT]", "write a profile in another format",
     cmd_unpack_options,
     "Without --to the format follows from OUT's name; without -o the output goes to stdout. A\n"
     "warning lists every kind of content that the format cannot represent. Frames that a pprof's\n"
     "drop_frames remove are not written, except to pprof, which gets the expressions.\n"
     "\n"
     "  pcol unpack run.pcol --to rprof -o run.out\n",
     1, 1, cmd_unpack},
    {"Convert", "merge", NULL, "IN... -o OUT", "put profiles into one file", cmd_merge_options,
     "Any number of inputs of any kinds: the same as pack of several. What is equal in them is "
     "kept\n"
     "once, each sample knows the source that it comes from, and each source comes back with\n"
     "unpack --source ID. Sample types of the same name and unit become one. OUT's name chooses "
     "the\n"
     "format: all.pb.gz is what unpack would write of the pcol file.\n"
     "\n"
     "  pcol merge worker-*.pb.gz -o all.pcol\n"
     "  pcol merge worker-*.pb.gz -o all.pb.gz\n"
     "  pcol top --by source all.pcol\n",
     1, CMD_ANY, cmd_merge},
    {"Convert", "filter", NULL, "IN... -o OUT", "write a part of a profile", cmd_filter_options,
     "The samples that are selected, with what they carry and need; several inputs are merged "
     "first.\n"
     "--hide and --show take frames out of stacks, --sample-type leaves only its values. A sample\n"
     "with a duration that reaches out of --time is cut and its values shared. What belongs to no\n"
     "sample stays behind and is said. Whatever is asked of the part, the answer is that of the\n"
     "whole under the same selection. OUT's name chooses the format, as for merge.\n"
     "\n"
     "--anonymize keeps structure and numbers: functions become f1, f2, ..., files file1.R, and\n"
     "mappings, threads, labels and uris likewise; sample types and <GC> keep their names. --map\n"
     "writes kind, pseudonym and name of each to a file that only you can read.\n"
     "\n"
     "  pcol filter --time 3s-5s --thread main run.pcol -o part.pcol\n"
     "  pcol filter --anonymize --map names.tsv run.out -o to-share.pcol\n",
     1, CMD_ANY, cmd_filter},
    {"Look", "cat", NULL, "[--table TABLE] FILE", "print the rows of a table", cmd_cat_options,
     "schema FILE lists the tables and columns. A column with a leading dot is one that not all\n"
     "profiles have; the dot may be left out. --where takes COLUMN OP VALUE with one of\n"
     "< <= == != >= > ~ (regular expression), or COLUMN is null, COLUMN is not null; several mean\n"
     "and. --join shows functions, files, sources and whole stacks in the place of their ids.\n"
     "Samples are selected (--focus to --time) in samples, sample_values and sample_locations.\n"
     "\n"
     "  pcol cat --table samples run.pcol\n"
     "  pcol cat --table sample_locations --join --where 'sample_id <= 10' run.pcol\n",
     1, 1, cmd_cat},
    {"Look", "head", NULL, "[--table TABLE] FILE", "print the first rows of a table",
     cmd_head_options, NULL, 1, 1, cmd_head},
    {"Look", "tail", NULL, "[--table TABLE] FILE", "print the last rows of a table",
     cmd_head_options, NULL, 1, 1, cmd_tail},
    {"Look", "count", NULL, "[--table TABLE] FILE", "print the number of rows of a table",
     cmd_count_options,
     "A bare number, unless --format asks for a table. With --where, the rows that pass.\n", 1, 1,
     cmd_count_rows},
    {"Look", "info", NULL, "FILE...", "say what is in a profile", cmd_info_options,
     "--format json and ndjson write one object a line for each file.\n", 1, CMD_ANY, cmd_info},
    {"Look", "schema", NULL, "[FILE]", "list tables, columns, types, keys and encodings",
     cmd_schema_options,
     "Without FILE: the data model that every profile has in common; with one also what else "
     "there\n"
     "is: columns with a leading dot, and tables such as threads and markers. --physical lists the "
     "columns\n"
     "as they lie in the file; its json holds all that a program needs to map them.\n"
     "\n"
     "  pcol schema --format sql\n"
     "  pcol schema --physical --format json run.pcol\n",
     0, 1, cmd_schema},
    {"Look", "check", "validate", "FILE...", "look for damage and broken rules", cmd_check_options,
     "Each fault is a line FILE: table T, column C, row R: message (rows count from 0), each "
     "sound\n"
     "file a line FILE: ok. What is worth knowing but no fault is marked note.\n"
     "\n"
     "Exit code: 0 sound, 1 faults, 3 not even the index can be read; of several files the "
     "worst.\n",
     1, CMD_ANY, cmd_check},
    {"Ask", "top", NULL, "FILE...", "print which functions, files or lines the values belong to",
     cmd_top_options,
     "self counts samples whose innermost frame a row is, total samples that hold it at least "
     "once;\n"
     "percentages are of all samples that --label, --thread, --time and --source choose, before\n"
     "--focus. --focus and --ignore take whole samples, --hide and --show frames; they match\n"
     "function names, files and the files of mappings.\n"
     "\n"
     "  pcol top run.pcol\n"
     "  pcol top --by line --sort total -n 50 cpu.pb.gz\n"
     "\n"
     "The lines that allocate, in a profile of Perun whose allocators have no source:\n"
     "\n"
     "  pcol top --by line --hide '^unreachable$' memory.perf\n",
     1, CMD_ANY, cmd_top},
    {"Ask", "tree", NULL, "FILE", "print the call tree", cmd_tree_options,
     "Callees stand below their callers, the largest first. --bottom-up starts from the innermost\n"
     "frames: below a function stand its callers. A node marked [+] (in machine formats: 1 in the\n"
     "column cut) has children that -n or --depth leaves out.\n"
     "\n"
     "  pcol tree run.pcol\n"
     "  pcol tree --bottom-up --depth 5 run.pcol\n",
     1, 1, cmd_tree},
    {"Ask", "peek", NULL, "NAME FILE", "print who calls a function, and what it calls",
     cmd_peek_options,
     "NAME is a function's whole name; if there is none, a regular expression. For callers and\n"
     "callees, total is the weight of the samples with that call, self of those where it is the\n"
     "innermost.\n"
     "\n"
     "  pcol peek sort.int run.pcol\n",
     2, 2, cmd_peek},
    {"Ask", "flame", NULL, "FILE [-o OUT.svg]", "draw a flame graph", cmd_flame_options,
     "An SVG document that needs nothing else: tooltips without scripts, with scripts a click "
     "zooms\n"
     "and / searches. On a terminal the graph is drawn in characters. --base shows what changed:\n"
     "red for a larger share than in BASE, blue for a smaller one.\n"
     "\n"
     "  pcol flame run.pcol -o run.svg\n"
     "  pcol flame --base before.pcol after.pcol -o change.svg\n",
     1, 1, cmd_flame},
    {"Ask", "diff", NULL, "BASE NEW", "print what changed between two profiles", cmd_diff_options,
     "Rows are matched by what they are called; those that changed are shown, with -n 0 all of\n"
     "them. Programs get name, self_base, self_new, self_delta, total_base, total_new, "
     "total_delta;\n"
     "people also see which are new or gone. --format markdown is for a comment on a pull\n"
     "request. Rows that rose by more than --fail-above are all shown, whatever -n says.\n"
     "\n"
     "  pcol diff before.pcol after.pcol\n"
     "  pcol diff --fail-above 5% --format markdown main.pb.gz branch.pb.gz\n"
     "\n"
     "Exit code: 1 if a row rose by more than --fail-above; 2 if the selection leaves nothing to\n"
     "compare, 3 if neither profile has a value.\n",
     2, 2, cmd_diff},
    {"Ask", "query", NULL, "QUESTION FILE", "ask what Perun asks of its profiles",
     cmd_query_options,
     "Questions about a Perun profile, packed or not:\n"
     "  items       what is in each resource, flattened\n"
     "  fields      the flat keys of all resources, and which are numbers\n"
     "  values      what --path leads to in each resource\n"
     "  flame       a line of text for each resource: uid, trace and amount\n"
     "  snapshots   which resources each snapshot has\n"
     "  models      models by --group, or the ones that --filter chooses\n"
     "  plot        51 points of the curve of each model\n"
     "Resources, models and snapshots themselves are tables of cat, also with --flat. A value "
     "keeps\n"
     "its type in json and ndjson, where an absent key is left out; in tsv and csv what is "
     "neither\n"
     "a string nor null is JSON.\n"
     "\n"
     "  pcol query values --path uid:function --unique memory.perf\n"
     "  pcol query models --filter best-model regression.pcol\n"
     "  pcol cat --table resources --flat --format csv memory.perf\n",
     2, 2, cmd_query},
    {"More", "formats", NULL, "", "list what can be read and written, and what each keeps",
     cmd_formats_options, NULL, 0, 0, cmd_formats},
    {"More", "completion", NULL, "bash|zsh|fish", "print a completion script for a shell",
     cmd_completion_options,
     "  eval \"$(pcol completion bash)\"\n"
     "  pcol completion zsh >~/.zfunc/_pcol\n"
     "  pcol completion fish >~/.config/fish/completions/pcol.fish\n",
     1, 1, cmd_completion},
    {"More", "help", NULL, "[COMMAND]", "explain a command", cmd_help_options, NULL, 0, 1,
     cmd_help},
};
const size_t cmd_count = sizeof cmd_table / sizeof *cmd_table;

const struct cmd *cmd_find(const char *name)
{
    for (size_t i = 0; i < cmd_count; i++)
        if (strcmp(cmd_table[i].name, name) == 0 ||
            (cmd_table[i].alias != NULL && strcmp(cmd_table[i].alias, name) == 0))
            return &cmd_table[i];
    return NULL;
}

int cmd_unknown(const char *name)
{
    struct cli_suggest suggest;
    char hint[96];

    cli_suggest_start(&suggest, name);
    for (size_t i = 0; i < cmd_count; i++) {
        cli_suggest_offer(&suggest, cmd_table[i].name, strlen(cmd_table[i].name));
        if (cmd_table[i].alias != NULL)
            cli_suggest_offer(&suggest, cmd_table[i].alias, strlen(cmd_table[i].alias));
    }
    if (access(name, F_OK) == 0)
        return cli_usage("'%s' is a file, and the command comes first: pcol top %s", name, name);
    return cli_usage("no command '%s'%s", name, cli_suggest_text(&suggest, hint, sizeof hint));
}

/* What somebody most likely wants who types nothing but the name. */
int cmd_no_command(void)
{
    int code = cli_usage("no command given");

    fputs("\n"
          "  pcol top run.out                 which functions take the time\n"
          "  pcol flame run.out -o run.svg    the same as a picture\n"
          "  pcol pack run.out -o run.pcol    keep it, with all that it holds\n"
          "  pcol help                        all commands\n",
          stderr);
    return code;
}
