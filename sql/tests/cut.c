/*
 * cut.c - the DuckDB extension reads a profile whose file is cut before each access to its map
 *
 *     cut FILE...
 *
 * The map of the file may not be accessed. Each access raises SIGSEGV; the handler forks, and the
 * child continues with a map of an empty file, so that this and all later accesses see the zeros of
 * the SIGBUS guard. It must end with E_IO. The parent repeats the access alone (single-stepped) and
 * goes on to the next one. Every text that the extension keeps, or gives to DuckDB, must be outside
 * of the map. Only on x86-64 and Linux. The last line is "N passed, N failed".
 */
#define _GNU_SOURCE
#include "duckdb/extension.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__) && defined(__linux__)

#include <ucontext.h>

duckdb_ext_api_v1 duckdb_ext_api;

enum { TRAP_FLAG = 0x100 };

static uint8_t *map; /* of the profile */
static size_t map_size;
static int empty_file;
static int is_cut; /* this process is a child whose file was cut */
static unsigned long cuts, failed;

static void protect(int protection)
{
    if (syscall(SYS_mprotect, map, map_size, protection) != 0)
        abort();
}

/* In place of the functions of the C library: the map of the file is known. */
void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *made = (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
    if (made != MAP_FAILED && fd >= 0 && flags & MAP_SHARED && map == NULL) {
        map = made;
        map_size = size;
        protect(PROT_NONE);
    }
    return made;
}

int munmap(void *at, size_t size)
{
    if (at == map)
        map = NULL;
    return (int)syscall(SYS_munmap, at, size);
}

static int is_in_map(const void *at)
{
    return map != NULL && (const uint8_t *)at >= map && (const uint8_t *)at < map + map_size;
}

static void cut_in_child(void)
{
    int code;
    pid_t child = fork();
    if (child == 0) {
        is_cut = 1;
        if ((void *)syscall(SYS_mmap, map, map_size, PROT_READ, MAP_SHARED | MAP_FIXED, empty_file,
                            0) == MAP_FAILED)
            abort();
        return;
    }
    if (child < 0 || waitpid(child, &code, 0) != child)
        abort();
    cuts++;
    if (code == 0)
        return;
    failed++;
    printf("cut before access %lu: %s %d\n", cuts, WIFSIGNALED(code) ? "signal" : "exit code",
           WIFSIGNALED(code) ? WTERMSIG(code) : WEXITSTATUS(code));
    fflush(stdout);
}

static void on_access(int number, siginfo_t *info, void *context)
{
    ucontext_t *thread = context;
    if (is_cut || !is_in_map(info->si_addr)) {
        signal(number, SIG_DFL); /* raised again when this handler returns */
        return;
    }
    cut_in_child();
    if (is_cut)
        return;
    protect(PROT_READ);
    thread->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void after_access(int number, siginfo_t *info, void *context)
{
    ucontext_t *thread = context;
    (void)number, (void)info;
    thread->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    protect(PROT_NONE);
}

/* ---- what is read */

static int is_private(const pcol_str *texts, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (is_in_map(texts[i].data) || texts[i].data[texts[i].size] != '\0')
            return 0;
    return 1;
}

/* One vector of DuckDB, of as many cells as a batch has. */
static duckdb_string_t cells[1024];
static uint64_t validity[1024 / 64];

static duckdb_vector get_vector(duckdb_data_chunk chunk, idx_t column)
{
    (void)chunk, (void)column;
    return (duckdb_vector)cells;
}

static void *get_data(duckdb_vector vector)
{
    return vector;
}

static uint64_t *get_validity(duckdb_vector vector)
{
    (void)vector;
    return validity;
}

static void no_validity(duckdb_vector vector)
{
    (void)vector;
}

static void set_invalid(uint64_t *bits, idx_t row)
{
    (void)bits;
    cells[row] = (duckdb_string_t){.value.inlined.length = 0};
}

static void copy_text(duckdb_vector vector, idx_t row, const char *text, idx_t size)
{
    (void)vector, (void)text, (void)size;
    set_invalid(NULL, row);
}

static void check_texts(const struct relation *r, const pcol_batch *batch)
{
    for (uint32_t i = 0; i < batch->column_count; i++) {
        enum shown shown = batch->columns[i].type == PCOL_STRING ? SHOWN_VARCHAR : SHOWN_BLOB;
        struct target target = target_of(NULL, i, shown, &r->pool, 0);
        if (batch->columns[i].type != PCOL_STRING && batch->columns[i].type != PCOL_BYTES)
            continue;
        if (!target_cells(&target, &batch->columns[i], batch->rows))
            abort();
        for (size_t row = 0; row < batch->rows; row++)
            if (cells[row].value.inlined.length > sizeof cells[row].value.inlined.inlined &&
                is_in_map(cells[row].value.pointer.ptr))
                abort();
    }
}

static pcol_status read_rows(const struct relation *r, pcol_error *err)
{
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_scan *scan;
    options.flags = PCOL_SCAN_CODES;
    pcol_status status = pcol_scan_new(r->table, &options, &scan, err);
    if (status != PCOL_OK)
        return status;
    do {
        status = pcol_scan_next(scan, &batch, err);
        if (status == PCOL_OK)
            check_texts(r, &batch);
    } while (status == PCOL_OK && batch.rows > 0);
    pcol_scan_free(scan);
    return status;
}

static pcol_status read_view(const char *path, enum view view, pcol_error *err)
{
    struct owned_selection none = {.selection = PCOL_INIT(pcol_selection)};
    char table[] = "functions";
    struct request request = {.view = view, .table = table, .selection = &none};
    struct relation *r;
    const struct stacks *stacks = NULL;
    int is_of_stacks = view == VIEW_SAMPLES || view == VIEW_STACKS;
    request.top = (pcol_top_options)PCOL_INIT(pcol_top_options);
    pcol_status status = relation_open(path, &request, &r, err);
    if (status != PCOL_OK)
        return status;
    if (!is_private(r->pool.strings, r->pool.count))
        abort();
    for (int has_tree = 0; has_tree < 2 && status == PCOL_OK && is_of_stacks; has_tree++)
        status = relation_stacks(r, has_tree, &stacks, err);
    if (stacks != NULL && (!is_private(stacks->names.texts, stacks->names.count) ||
                           !is_private(stacks->files.texts, stacks->files.count)))
        abort();
    if (status == PCOL_OK)
        status = read_rows(r, err);
    if (status == PCOL_OK)
        status = pcol_file_intact(r->file, err);
    relation_close(r);
    return status;
}

/* ---- cases */

static void handle(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = handler;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, &action, NULL) != 0)
        abort();
}

/* Exits in children. */
static void read_and_cut(const char *path, enum view view)
{
    pcol_error err = {0};
    pcol_status status = read_view(path, view, &err);
    if (is_cut)
        _exit(status != PCOL_E_IO);
    if (status == PCOL_OK)
        return;
    failed++;
    printf("%s: view %d: %s\n", path, (int)view, err.message);
}

int main(int count, char **paths)
{
    static const enum view views[] = {VIEW_TABLE, VIEW_SAMPLES, VIEW_STACKS, VIEW_TOP};
    /* Each name is a macro for a member of duckdb_ext_api. */
    duckdb_data_chunk_get_vector = get_vector;
    duckdb_vector_get_data = get_data;
    duckdb_vector_get_validity = get_validity;
    duckdb_vector_ensure_validity_writable = no_validity;
    duckdb_validity_set_row_invalid = set_invalid;
    duckdb_vector_assign_string_element_len = copy_text;
    empty_file = memfd_create("empty", 0);
    if (empty_file < 0)
        abort();
    handle(SIGSEGV, on_access);
    handle(SIGTRAP, after_access);
    for (int i = 1; i < count; i++)
        for (size_t k = 0; k < sizeof views / sizeof *views; k++)
            read_and_cut(paths[i], views[k]);
    printf("%lu passed, %lu failed\n", cuts - failed, failed);
    return failed != 0 || cuts == 0;
}

#else

int main(void)
{
    printf("0 passed, 0 failed\n");
    return 0;
}

#endif
