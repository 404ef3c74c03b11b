/*
 * cmd_symbolize.h - symbolize: the profile, the binaries and the addresses that they share
 */
#ifndef PCOL_TOOLS_CMD_SYMBOLIZE_H
#define PCOL_TOOLS_CMD_SYMBOLIZE_H

#include "cli.h"
#include "cli_addr2line.h"
#include "cli_elf.h"

struct symbolize_mapping {
    uint64_t start, limit, offset;
    char *path, *build_id; /* "" if unknown */
    size_t binary;         /* SYMBOLIZE_NONE: none */
    uint8_t flags;         /* PCOL_SYMBOLS_* */
};
#define SYMBOLIZE_NONE SIZE_MAX

/* A location group without a function. */
struct symbolize_request {
    uint64_t group, address; /* address: virtual, of the binary */
    size_t mapping, answer;  /* answer: number of the address among those of the binary */
};

struct symbolize_binary {
    const char *path;
    struct cli_elf elf;
    struct cli_symbols symbols;
    size_t mappings; /* that use it */
    uint64_t asked, found;
};

struct symbolize_work {
    const struct cli_args *args;
    const struct cli_input *input;
    struct symbolize_mapping *mappings;
    struct symbolize_binary *binaries;
    struct symbolize_request *requests;
    size_t request_count, request_capacity;
    uint64_t mapping_count, group_count, location_count;
    uint64_t nameless, outside; /* groups; of these, those whose address no binary has */
};

/* ---- cmd_symbolize_profile.c */

/* Read the mappings of the profile. */
pcol_status symbolize_mappings(struct symbolize_work *w, pcol_error *err);
/* List the nameless location groups whose address is in a binary, in the order of groups. */
pcol_status symbolize_groups(struct symbolize_work *w, pcol_error *err);

#endif
