/*
 * files.c - open files of a connection, shared by its tables; errors and interrupts
 *
 * Tables of one path share an open file while its device, inode, size and time of change are the
 * same: an import is made once for all tables of a profile. Tests: sql/tests.
 */
#define _XOPEN_SOURCE 700
#include "sqlite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct identity {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified;
};

struct open_file {
    struct files *files;
    struct open_file *next;
    char *path;
    struct identity identity;
    pcol_file *file;
    struct sql_pool pool;
    int has_pool;
    unsigned references;
};

struct files {
    sqlite3 *db;
    struct open_file *list;
    unsigned references; /* the connection and the open files: tables may outlive the module */
};

struct files *files_new(sqlite3 *db)
{
    struct files *files = calloc(1, sizeof *files);
    if (files != NULL) {
        files->db = db;
        files->references = 1;
    }
    return files;
}

void files_free(void *pointer)
{
    struct files *files = pointer;
    if (files != NULL && --files->references == 0)
        free(files);
}

static int is_same(const struct identity *a, const struct identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->modified.tv_sec == b->modified.tv_sec && a->modified.tv_nsec == b->modified.tv_nsec;
}

/* Of a path that cannot be examined: nothing, for opening it gives the better error. */
static struct identity identify(const char *path)
{
    struct stat s;
    struct identity found = {0};
    if (stat(path, &s) == 0)
        found = (struct identity){s.st_dev, s.st_ino, s.st_size, s.st_mtim};
    return found;
}

static struct open_file *find(struct files *files, const char *path, const struct identity *now)
{
    for (struct open_file *f = files->list; f != NULL; f = f->next)
        if (strcmp(f->path, path) == 0 && is_same(&f->identity, now))
            return f;
    return NULL;
}

static int open_new(struct files *files, const char *path, struct open_file *made, char **text)
{
    struct interrupt interrupt;
    pcol_error err = {0};
    made->path = sqlite3_mprintf("%s", path);
    if (made->path == NULL)
        return SQLITE_NOMEM;
    interrupt_init(&interrupt, files->db);
    pcol_status status = sql_open(path, NULL, &interrupt.control, &made->file, &err);
    interrupt_end(&interrupt);
    if (status != PCOL_OK && status != PCOL_E_CANCELLED)
        *text = error_text(path, &err);
    return error_code(status);
}

int files_open(struct files *files, const char *path, struct open_file **opened, char **text)
{
    struct identity now = identify(path);
    struct open_file *found = find(files, path, &now);
    *opened = NULL;
    if (found != NULL) {
        found->references++;
        *opened = found;
        return SQLITE_OK;
    }
    struct open_file *made = calloc(1, sizeof *made);
    if (made == NULL)
        return SQLITE_NOMEM;
    int code = open_new(files, path, made, text);
    if (code != SQLITE_OK) {
        sqlite3_free(made->path);
        free(made);
        return code;
    }
    made->identity = now;
    made->references = 1;
    made->files = files;
    made->next = files->list;
    files->list = made;
    files->references++;
    *opened = made;
    return SQLITE_OK;
}

void files_release(struct open_file *opened)
{
    if (opened == NULL || --opened->references > 0)
        return;
    struct open_file **at = &opened->files->list;
    while (*at != opened)
        at = &(*at)->next;
    *at = opened->next;
    sql_pool_free(&opened->pool);
    pcol_file_close(opened->file);
    sqlite3_free(opened->path);
    files_free(opened->files);
    free(opened);
}

const pcol_file *files_file(const struct open_file *opened)
{
    return opened->file;
}

const char *files_path(const struct open_file *opened)
{
    return opened->path;
}

const struct sql_pool *files_pool(struct open_file *opened)
{
    if (!opened->has_pool)
        opened->has_pool = sql_pool_read(opened->file, &opened->pool, NULL) == PCOL_OK;
    return opened->has_pool ? &opened->pool : NULL;
}

/* ---- errors */

/* Damage and failed reads are SQLITE_ERROR: SQLITE_CORRUPT and SQLITE_IOERR are about databases,
 * and make SQLite roll back, or refuse to write. */
int error_code(pcol_status status)
{
    return status == PCOL_OK            ? SQLITE_OK
           : status == PCOL_E_NO_MEMORY ? SQLITE_NOMEM
           : status == PCOL_E_CANCELLED ? SQLITE_INTERRUPT
                                        : SQLITE_ERROR;
}

char *error_text(const char *path, const pcol_error *err)
{
    char text[SQL_MESSAGE_SIZE];
    return sqlite3_mprintf("%s", sql_message(text, sizeof text, path, err));
}

/* ---- interrupts */

/* sqlite3_is_interrupted() is newer than Debian 12's SQLite; a statement of the same connection
 * that begins after an interrupt fails in every version. */
static int is_interrupted(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct interrupt *interrupt = context;
    (void)phase, (void)done, (void)total;
    if (interrupt->probe == NULL &&
        sqlite3_prepare_v2(interrupt->db, "SELECT 1", -1, &interrupt->probe, NULL) != SQLITE_OK)
        return 1;
    int code = sqlite3_step(interrupt->probe);
    sqlite3_reset(interrupt->probe);
    return code != SQLITE_ROW;
}

void interrupt_init(struct interrupt *interrupt, sqlite3 *db)
{
    *interrupt = (struct interrupt){.db = db, .control = PCOL_INIT(pcol_control)};
    interrupt->control.context = interrupt;
    interrupt->control.progress = is_interrupted;
}

void interrupt_end(struct interrupt *interrupt)
{
    sqlite3_finalize(interrupt->probe);
    interrupt->probe = NULL;
}
