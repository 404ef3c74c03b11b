/*
 * cli_elf.h - program headers and build ids of ELF files
 */
#ifndef PCOL_TOOLS_CLI_ELF_H
#define PCOL_TOOLS_CLI_ELF_H

#include <stddef.h>
#include <stdint.h>

enum { CLI_ELF_BUILD_ID = 256 };

/* A loadable segment with bytes in the file. */
struct cli_elf_segment {
    uint64_t offset, size; /* in the file */
    uint64_t address;      /* virtual */
    int is_code;
};

struct cli_elf {
    struct cli_elf_segment *segments;
    size_t segment_count;
    char build_id[CLI_ELF_BUILD_ID];    /* of GNU, in hexadecimal digits; "": none */
    char go_build_id[CLI_ELF_BUILD_ID]; /* of Go; "": none */
};

/* Read the program headers and notes of an executable or shared library. */
int cli_elf_open(struct cli_elf *elf, const char *path);
void cli_elf_close(struct cli_elf *elf);
/* The virtual address of an offset in the file; 0: no segment has it. */
int cli_elf_address(const struct cli_elf *elf, uint64_t offset, uint64_t *address);
/* Whether a segment has this virtual address. */
int cli_elf_has_address(const struct cli_elf *elf, uint64_t address);

#endif
