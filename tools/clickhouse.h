/*
 * clickhouse.h - unpack --to clickhouse: tables of many profiles as RowBinary files
 *
 * Reads profiles one after the other. A profile is a source of a file: its samples are summed by
 * stack and labels, and written with its keys and its time. Content hashes identify stacks, so that
 * each distinct one is written once for all profiles.
 */
#ifndef PCOL_TOOLS_CLICKHOUSE_H
#define PCOL_TOOLS_CLICKHOUSE_H

#include "cli.h"
#include "cli_folder.h"

enum { CH_MAX_KEYS = 16, CH_MAX_SHARDS = 256 };

/* ---- sets of byte strings (clickhouse_set.c) ---- */

/* Open addressing over SipHash-1-3 with a seed of the process: inputs cannot choose collisions. */
struct ch_set {
    uint32_t *slots; /* index + 1; 0: free */
    size_t slot_count;
    struct ch_item {
        uint64_t hash;
        size_t at; /* in `bytes` */
        size_t size;
    } * items; /* in the order of insertion */
    size_t count, capacity;
    char *bytes;
    size_t used, bytes_capacity;
    int is_limited; /* `used`, by the size of the inputs */
};

/* *index: of the equal string, or of the one that was added. */
int ch_set_add(struct ch_set *set, const void *data, size_t size, uint32_t *index);
static inline pcol_str ch_set_get(const struct ch_set *set, uint32_t index)
{
    return (pcol_str){set->bytes + set->items[index].at, set->items[index].size};
}
void ch_set_clear(struct ch_set *set); /* keeps the memory */
void ch_set_free(struct ch_set *set);

/* ---- the output (clickhouse_schema.c) ---- */

struct ch_output {
    struct cli_folder folder;
    size_t shards;
    char **names; /* of the files */
};

/* Files of the output by their numbers. */
enum { CH_FILE_SCHEMA, CH_FILE_HASHES, CH_FILE_FUNCTIONS, CH_FILE_SHARDS };

int ch_output_open(struct ch_output *output, const struct cli_args *args, size_t shards);
int ch_output_finish(struct ch_output *output, int code);

static inline struct cli_folder_file *ch_samples_file(const struct ch_output *output, size_t shard)
{
    return &output->folder.files[CH_FILE_SHARDS + 2 * shard];
}
static inline struct cli_folder_file *ch_stacks_file(const struct ch_output *output, size_t shard)
{
    return &output->folder.files[CH_FILE_SHARDS + 2 * shard + 1];
}

/* RowBinary: integers little-endian, lengths as LEB128. */
void ch_put_integer(struct ch_output *output, struct cli_folder_file *file, uint64_t value,
                    size_t size);
void ch_put_length(struct ch_output *output, struct cli_folder_file *file, uint64_t length);
void ch_put_text(struct ch_output *output, struct cli_folder_file *file, pcol_str text);

/* Statements that create the tables, with columns for the keys. */
void ch_put_schema(struct ch_output *output, const char *const *keys, size_t key_count);

/* ---- a run ---- */

struct ch_run {
    const struct cli_args *args;
    const char *keys[CH_MAX_KEYS];
    char *key_text;
    size_t key_count;
    struct ch_output output;
    struct ch_set stacks;    /* hashes: the known ones first, then those of this run */
    size_t known_count;      /* of `stacks` */
    struct ch_set functions; /* ids that were written */
    struct ch_set texts;     /* values of keys, and sample types */
    struct ch_set rows;      /* time, type and keys of each profile and sample type */
    struct ch_owner {
        uint32_t operand, source;
    } * owners; /* of each of `rows` */
    size_t row_capacity;
    struct ch_set groups; /* of the present profile: its source, stack and labels */
    int64_t *sums;        /* type_count for each group */
    size_t sum_capacity;
    pcol_sums *content; /* finds what the tables lack */
    unsigned lost;      /* CH_LOST_* */
    unsigned is_empty,
        is_absent; /* bits of keys: a sample's label has an empty text, is not there */
};

/* What the rows written so far lack. */
enum {
    CH_LOST_TYPES = 1,  /* gauges and doubles */
    CH_LOST_VALUES = 2, /* of a label, but the first of a sample */
    CH_LOST_LINES = 4,  /* below 0 or beyond 32 bits */
    CH_LOST_SAMPLES = 8 /* without a call stack */
};

/* The first 8 bytes of a hash, little-endian: ClickHouse's reinterpretAsUInt64(). */
static inline uint64_t ch_word(const void *hash)
{
    const unsigned char *bytes = hash;
    uint64_t word = 0;

    for (size_t i = 8; i-- > 0;)
        word = word << 8 | bytes[i];
    return word;
}

/* Add the profiles of an input: rows of samples, and of stacks that are new
 * (clickhouse_samples.c). */
int ch_add_input(struct ch_run *run, const struct cli_input *input, uint32_t operand);

/* Write rows of `stacks` of a file, and of their functions that are new; `rows`: rows of the
 * physical table, `first`: index of the first one's hash in run->stacks
 * (clickhouse_stacks.c). */
int ch_put_stacks(struct ch_run *run, const struct cli_input *input, const uint32_t *rows,
                  size_t count, uint32_t first);

/* unpack --to clickhouse (clickhouse.c). */
int ch_unpack(struct cli_args *args);

#endif
