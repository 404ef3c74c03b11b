/*
 * cmd.c - the table of commands
 *
 * The help prints lines of `details` that begin with a blank unchanged, and fills the other
 * paragraphs.
 */
#include "cmd.h"

#include <string.h>
#include <unistd.h>

const struct cmd cmd_table[] = {
    {"Convert", "pack", NULL, "IN... [-o OUT.pcol]", "write a pcol file from profiles",
     cmd_pack_options,
     "Several inputs become several sources of one file. Without -o the output is written next\n"
     "to the input, with the suffix .pcol instead of its own; stdin goes to stdout. pcol\n"
     "recognises inputs by content, then by name, decompresses gzip and zlib, and merges .pcol\n"
     "inputs unchanged. unpack and merge write other formats.\n"
     "\n"
     "  pcol pack run.out -o run.pcol --meta host=build7\n"
     "  pcol pack --each -o packed/ *.Rprof\n",
     1, CMD_ANY, cmd_pack},
    {"Convert", "unpack", NULL, "FILE... [--to FORMAT] [-o OUT]",
     "write a profile in another format", cmd_unpack_options,
     "Without --to the name of OUT chooses the format; without -o the output goes to stdout. A\n"
     "warning lists every kind of content that the format cannot represent. Frames that the\n"
     "drop_frames of a pprof profile remove are not written; pprof output has all frames and\n"
     "the expressions.\n"
     "\n"
     "--to clickhouse takes any number of files and writes tables for ClickHouse into the\n"
     "directory OUT: schema.sql, and RowBinary files of samples, stacks and functions. Each\n"
     "source is a profile with its time and a column for each of --keys. Values are summed by\n"
     "profile, stack and labels among the keys. hashes lists the stacks that were written; give\n"
     "it to the next run as --known, so that stacks are written once. --shards divides samples\n"
     "and stacks by the hash of the stack.\n"
     "\n"
     "  pcol unpack run.pcol --to rprof -o run.out\n"
     "  pcol unpack --to clickhouse --files-from list --shards 2 -o load\n",
     1, CMD_ANY, cmd_unpack},
    {"Convert", "merge", NULL, "IN... -o OUT", "merge profiles into one file", cmd_merge_options,
     "Merges any number of inputs of any formats, as pack does. Equal strings, functions,\n"
     "locations and stacks are stored once. Each sample refers to its source, and unpack\n"
     "--source ID restores a source. Sample types with equal name and unit become one. The\n"
     "name of OUT chooses the format: for all.pb.gz, merge writes the output of unpack instead\n"
     "of a pcol file. --sums reduces thousands of profiles to sums by stack, for questions about\n"
     "functions, services and builds; sums can be merged again.\n"
     "\n"
     "  pcol merge worker-*.pb.gz -o all.pcol\n"
     "  pcol merge --sums=service,build host-*.pcol -o hour.pcol\n"
     "  pcol merge worker-*.pb.gz -o all.pb.gz\n"
     "  pcol top --by source all.pcol\n",
     1, CMD_ANY, cmd_merge},
    {"Convert", "filter", NULL, "IN... -o OUT", "write the selected samples of a profile",
     cmd_filter_options,
     "Writes the selected samples with all data that they refer to; several inputs are merged\n"
     "first. --hide and --show remove frames from stacks, --sample-type removes the values of\n"
     "other types. A sample that is partly in --time is cut, and its values are divided. A\n"
     "warning lists removed data that belongs to no sample. Queries of the output give the\n"
     "results of queries of the input with the same selection; keys and values of labels that\n"
     "no selected sample has are unknown in it, and of merged sources each one's own\n"
     "drop_frames are applied. The name of OUT chooses the format, as for merge.\n"
     "\n"
     "--anonymize keeps structure and numbers. Functions become f1, f2, ..., files file1.R,\n"
     "and mappings, threads, labels and uris likewise; sample types and <GC> keep their names.\n"
     "--map writes the kind, pseudonym and name of each to a file that only you can read.\n"
     "\n"
     "  pcol filter --time 3s-5s --thread main run.pcol -o part.pcol\n"
     "  pcol filter --anonymize --map names.tsv run.out -o to-share.pcol\n",
     1, CMD_ANY, cmd_filter},
    {"Convert", "symbolize", NULL, "FILE --binary PATH -o OUT",
     "add functions and lines to a profile of addresses", cmd_symbolize_options,
     "Locations that have an address and a mapping, but no function and no line, get the\n"
     "functions, files, lines and inlined calls of the binary at that address; everything else\n"
     "stays. A binary belongs to the mappings of its build id, or, if the profile has none, to\n"
     "those of its file name. A different build id is rejected unless --ignore-build-id is\n"
     "given. The program addr2line (binutils or LLVM) reads the binary; names of C++ are kept as\n"
     "linked, as for --demangle. Each source gets the metadata symbolized.NAME with the build\n"
     "id. The name of OUT chooses the format, as for merge.\n"
     "\n"
     "  pcol symbolize cpu.pb.gz --binary ./server -o cpu.pcol\n"
     "  pcol symbolize cpu.pcol -b ./server -b ./libshop.so -o named.pcol\n"
     "\n"
     "Exit code: 5 if a build id differs, 3 if a binary fits no mapping.\n",
     1, 1, cmd_symbolize},
    {"Inspect", "cat", NULL, "[--table TABLE] FILE", "print the rows of a table", cmd_cat_options,
     "schema FILE lists the tables and columns. Columns with a leading dot are present only in\n"
     "some profiles; the dot is optional. --where takes COLUMN OP VALUE with one of < <= == !=\n"
     ">= > ~ (regular expression), or COLUMN is null, COLUMN is not null; several conditions\n"
     "must all hold. --join shows functions, files, sources and whole stacks instead of their\n"
     "ids. --focus to --order select rows of samples, sample_values and sample_locations.\n"
     "\n"
     "  pcol cat --table samples run.pcol\n"
     "  pcol cat --table sample_locations --join --where 'sample_id <= 10' run.pcol\n",
     1, 1, cmd_cat},
    {"Inspect", "head", NULL, "[--table TABLE] FILE", "print the first rows of a table",
     cmd_head_options, NULL, 1, 1, cmd_head},
    {"Inspect", "tail", NULL, "[--table TABLE] FILE", "print the last rows of a table",
     cmd_head_options, NULL, 1, 1, cmd_tail},
    {"Inspect", "count", NULL, "[--table TABLE] FILE", "print the number of rows of a table",
     cmd_count_options,
     "Prints a bare number, unless --format requests a table. With --where, counts the\n"
     "matching rows.\n",
     1, 1, cmd_count_rows},
    {"Inspect", "info", NULL, "FILE...", "summarize a profile", cmd_info_options,
     "--format json and ndjson write one object and line for each file.\n", 1, CMD_ANY, cmd_info},
    {"Inspect", "schema", NULL, "[FILE]", "list tables, columns, types, keys and encodings",
     cmd_schema_options,
     "Without FILE: the data model that all profiles have in common. With FILE also its\n"
     "columns with a leading dot and its tables such as threads and markers. --physical lists\n"
     "the columns of the file itself; its json has all data that a program needs to map them.\n"
     "\n"
     "  pcol schema --format sql\n"
     "  pcol schema --physical --format json run.pcol\n",
     0, 1, cmd_schema},
    {"Inspect", "check", "validate", "FILE...", "verify checksums and rules of the data model",
     cmd_check_options,
     "Each fault is a line FILE: table T, column C, row R: message (rows count from 0), each\n"
     "intact file a line FILE: ok. Lines with note: are information, not faults.\n"
     "\n"
     "Exit code: 0 intact, 1 faults, 3 unreadable index; for several files the highest.\n",
     1, CMD_ANY, cmd_check},
    {"Query", "top", NULL, "FILE...", "list the functions, files or lines with the highest values",
     cmd_top_options,
     "self counts samples with the row as innermost frame, total samples that contain it at\n"
     "least once. Percentages are of all samples that --label, --thread, --time, --order,\n"
     "--source and --source-meta select, before --focus. --focus and --ignore select whole\n"
     "samples, --hide and --show frames; they match names of functions, files and mappings.\n"
     "In --by file and --by mapping, [BINARY] and <unknown> are frames without a file or\n"
     "mapping, and no names that these options match.\n"
     "\n"
     "  pcol top run.pcol\n"
     "  pcol top --by line --sort total -n 50 cpu.pb.gz\n"
     "\n"
     "The allocating lines of a Perun profile whose allocators have no source:\n"
     "\n"
     "  pcol top --by line --hide '^unreachable$' memory.perf\n",
     1, CMD_ANY, cmd_top},
    {"Query", "tree", NULL, "FILE", "print the call tree", cmd_tree_options,
     "Callees are printed below their callers, in descending order. --bottom-up starts with\n"
     "the innermost frames and prints callers below them. The mark [+] (in machine formats: 1\n"
     "in the column cut) means that -n or --depth leaves out children of the node.\n"
     "\n"
     "  pcol tree run.pcol\n"
     "  pcol tree --bottom-up --depth 5 run.pcol\n",
     1, 1, cmd_tree},
    {"Query", "peek", NULL, "NAME FILE", "print the callers and callees of a function",
     cmd_peek_options,
     "NAME is the whole name of a function, or of the frames of a binary without symbols,\n"
     "[BINARY], or else a regular expression. For callers and callees, total is the weight of\n"
     "the samples with that call, self of those in which it is the innermost.\n"
     "\n"
     "  pcol peek sort.int run.pcol\n",
     2, 2, cmd_peek},
    {"Query", "list", NULL, "NAME FILE", "print the lines of functions with their source",
     cmd_list_options,
     "NAME is the whole name of a function, or else a regular expression. Values of lines are\n"
     "those of top --by line. Source files are searched below each --source-path, by ends of\n"
     "their paths, longest first, and by their whole path in the directory of FILE. Symbolic\n"
     "links below these directories are not followed.\n"
     "\n"
     "  pcol list main.fib --source-path ~/src/demo cpu.pb.gz\n",
     2, 2, cmd_list},
    {"Query", "traces", NULL, "FILE...", "print each distinct call stack with its value",
     cmd_traces_options,
     "Stacks are printed in descending order of their values, frames innermost first: one a\n"
     "line on a terminal, in one column stack with ; between them elsewhere. Stacks are of\n"
     "functions, without lines of R outside them; samples of the same stack are one row.\n"
     "\n"
     "  pcol traces -n 5 cpu.pb.gz\n"
     "  pcol traces --focus parse --format csv run.pcol\n",
     1, CMD_ANY, cmd_traces},
    {"Query", "labels", NULL, "FILE...", "list the values of each label key, with their sums",
     cmd_labels_options,
     "The rows of each key are those of top --by label:KEY: a sample with several values of a\n"
     "key counts for each of them, and the row without a value is the sum of the samples\n"
     "without the key. Of Perun profiles, traces are call stacks and amounts are values of\n"
     "sample types, so neither is a label.\n"
     "\n"
     "  pcol labels cpu.pb.gz\n"
     "  pcol labels --label 'method!=GET' --format csv cpu.pb.gz\n",
     1, CMD_ANY, cmd_labels},
    {"Query", "flame", NULL, "FILE [-o OUT.svg]", "draw a flame graph", cmd_flame_options,
     "Writes a self-contained SVG document with tooltips; with scripts enabled, a click zooms\n"
     "and / searches. On a terminal the graph is drawn in characters. --base shows changes:\n"
     "red for a larger share than in BASE, blue for a smaller one.\n"
     "\n"
     "  pcol flame run.pcol -o run.svg\n"
     "  pcol flame --base before.pcol after.pcol -o change.svg\n",
     1, 1, cmd_flame},
    {"Query", "report", NULL, "FILE [BASE] -o OUT.html", "write an interactive page",
     cmd_report_options,
     "Writes one HTML file that holds the profile and needs no network: flame graphs, callers\n"
     "and callees, tables, stacks over time, search, and selection by time, thread, source and\n"
     "label. With BASE all of them compare. The file has the selected samples only. Without\n"
     "scripts it shows a table and a flame graph.\n"
     "\n"
     "  pcol report run.pcol -o run.html\n"
     "  pcol report after.pcol before.pcol -o change.html --open\n",
     1, 2, cmd_report},
    {"Query", "view", NULL, "FILE...", "show a profile in a browser, from a server on this machine",
     cmd_view_options,
     "Serves the page of report on 127.0.0.1 until Ctrl-C, and prints its address. Nothing is\n"
     "copied into the page, so files may have any size. The page compares the first file with the\n"
     "second one; others are chosen there. The address contains a random token: only those who\n"
     "know it can see the profiles. To see a profile of another machine, forward a port:\n"
     "\n"
     "  pcol view run.pcol --open\n"
     "  pcol view after.pcol before.pcol\n"
     "  ssh -L 8080:127.0.0.1:8080 server pcol view --port 8080 run.pcol\n",
     1, CMD_ANY, cmd_view},
    {"Query", "diff", NULL, "BASE... NEW", "compare a profile with one or more others",
     cmd_diff_options,
     "Rows with equal names are compared, and changed rows are printed; -n 0 prints all.\n"
     "Machine formats have name, self_base, self_new, self_delta, total_base, total_new,\n"
     "total_delta; a terminal also shows new and removed rows. --format markdown suits a\n"
     "comment on a pull request. All rows above --fail-above are printed, for any -n.\n"
     "\n"
     "Several bases, operands and --base, are profiles of the same program. Each base value is\n"
     "their median (a row that a base lacks is 0 there); machine formats add self_min,\n"
     "self_max, total_min, total_max and total_mad, the median distance to the median. A limit\n"
     "is then above the highest base. With three bases or more a value must also exceed the\n"
     "median by more than three times the median distance. --normalize scales every profile\n"
     "to the median of the totals.\n"
     "\n"
     "  pcol diff before.pcol after.pcol\n"
     "  pcol diff --fail-above 5% --format markdown main.pb.gz branch.pb.gz\n"
     "  pcol diff --normalize --fail-above 2% --min-samples 50 main-*.pb.gz new.pb.gz\n"
     "\n"
     "Exit code: 1 if a row rose by more than --fail-above or the total by more than\n"
     "--fail-total. With a limit, 2 if the selection leaves no value of NEW, and 3 if NEW has\n"
     "no value, or a total that is not finite.\n",
     1, CMD_ANY, cmd_diff},
    {"Query", "perun", NULL, "QUESTION FILE", "run Perun's queries on its profiles",
     cmd_perun_options,
     "Queries on a Perun profile, packed or not:\n"
     "  items       the flattened members of each resource\n"
     "  fields      the flat keys of all resources, and which are numeric\n"
     "  values      the values at --path in each resource\n"
     "  flame       a line of text for each resource: uid, trace and amount\n"
     "  snapshots   the resources of each snapshot\n"
     "  models      models by --group or --filter\n"
     "  plot        51 points of the curve of each model\n"
     "cat prints resources, models and snapshots as tables, also with --flat. json and ndjson\n"
     "keep the type of a value and leave out absent keys; tsv and csv show values other than\n"
     "strings and nulls as JSON.\n"
     "\n"
     "  pcol perun values --path uid:function --unique memory.perf\n"
     "  pcol perun models --filter best-model regression.pcol\n"
     "  pcol cat --table resources --flat --format csv memory.perf\n",
     2, 2, cmd_perun},
    {"More", "formats", NULL, "", "list the formats and the content that each preserves",
     cmd_formats_options, NULL, 0, 0, cmd_formats},
    {"More", "completion", NULL, "bash|zsh|fish", "print a completion script for a shell",
     cmd_completion_options,
     "  eval \"$(pcol completion bash)\"\n"
     "  pcol completion zsh >~/.zfunc/_pcol\n"
     "  pcol completion fish >~/.config/fish/completions/pcol.fish\n",
     1, 1, cmd_completion},
    {"More", "help", NULL, "[COMMAND]", "describe a command and its options", cmd_help_options,
     NULL, 0, 1, cmd_help},
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

/* Usage error for an empty command line, with the most common commands. */
int cmd_no_command(void)
{
    int code = cli_usage("no command given");

    fputs("\n"
          "  pcol top run.out                 list the functions with the highest values\n"
          "  pcol flame run.out -o run.svg    draw a flame graph\n"
          "  pcol pack run.out -o run.pcol    write a pcol file\n"
          "  pcol help                        list all commands\n",
          stderr);
    return code;
}
