/*
 * handle_errors.c - an example: members of an error, and who can act on it
 *
 *     handle_errors FILE
 *
 * Opens a profile of any format and checks it. The exit code is 0, or that of the reason.
 */
#include <pcol.h>

#include <stdio.h>

/* Statuses come in groups of ten. */
static const char *advice(const pcol_error *err)
{
    switch (err->status / 10) {
    case 0:
        return "the call is wrong";
    case 1:
        return "try again, or elsewhere";
    case 2:
        return "the pcol file cannot be read";
    default:
        return "the input cannot be read";
    }
}

static int report(const char *path, const pcol_error *err)
{
    char place[192];
    pcol_error_place(err, place, sizeof place);
    fprintf(stderr, "%s: %s%s%s\n", path, place, *place ? ": " : "", err->message);
    fprintf(stderr, "%s (%s): %s", pcol_status_name(err->status), pcol_status_text(err->status),
            advice(err));
    if (err->os_error)
        fprintf(stderr, ", errno %d", (int)err->os_error);
    putc('\n', stderr);
    return (int)err->status;
}

/* A damaged file is an answer of the check, not a failure of the call. */
static int print_fault(void *path, const pcol_fault *fault)
{
    if (!fault->note)
        fprintf(stderr, "%s: %s: %s\n", (const char *)path, fault->table, fault->message);
    return 0;
}

int main(int argc, char **argv)
{
    pcol_file *file;
    pcol_error err;
    pcol_status status;
    uint64_t faults = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: handle_errors FILE\n");
        return 2;
    }
    status = pcol_open_any_path(argv[1], NULL, &file, &err);
    if (status != PCOL_OK)
        return report(argv[1], &err);
    status = pcol_file_check(file, PCOL_CHECK_DEFAULT, print_fault, argv[1], NULL, &faults, &err);
    pcol_file_close(file);
    if (status != PCOL_OK)
        return report(argv[1], &err);
    printf("%s\n", faults ? "damaged" : "sound");
    return faults ? (int)PCOL_E_CORRUPT : 0;
}
