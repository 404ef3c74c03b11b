/*
 * cli_demangle.c - C++ names as people write them
 *
 * The C++ runtime has the demangler; it is looked for when the first name that needs it is shown,
 * so that no profile without such names pays for loading it, and a machine without it shows names
 * as they are. Programs get names as they are unless they ask, since their answers must not depend
 * on what a machine has installed.
 */
#include "cli.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 4096u /* longer names are left alone: what comes out may be far longer */

typedef char *demangle_fn(const char *name, char *room, size_t *size, int *status);

static demangle_fn *find_demangler(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    demangle_fn *found = NULL;

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && found == NULL; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        void *symbol = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
        /* POSIX has it that this works; C has no conversion between the two kinds of pointers. */
        memcpy(&found, &symbol, sizeof found);
    }
    return found;
}

/* *room is to be freed. */
static pcol_str demangle(pcol_str name, char **room)
{
    static demangle_fn *demangler;
    static int looked;
    char text[LONGEST + 1];
    int status = 0;

    *room = NULL;
    if (name.size < 3 || name.size > LONGEST || memcmp(name.data, "_Z", 2) != 0 ||
        memchr(name.data, '\0', name.size) != NULL)
        return name;
    if (!looked) {
        demangler = find_demangler();
        looked = 1;
    }
    if (demangler == NULL)
        return name;
    memcpy(text, name.data, name.size);
    text[name.size] = '\0';
    *room = demangler(text, NULL, NULL, &status);
    if (*room == NULL || status != 0)
        return name;
    return (pcol_str){*room, strlen(*room)};
}

void cli_names_init(struct cli_names *names, const struct cli_args *args, int people)
{
    names->plain = NULL;
    names->wanted = args->demangle == NULL || strcmp(args->demangle, "auto") == 0
                        ? people
                        : strcmp(args->demangle, "on") == 0;
}

void cli_names_free(struct cli_names *names)
{
    free(names->plain);
    names->plain = NULL;
}

pcol_str cli_name(struct cli_names *names, pcol_str name)
{
    cli_names_free(names);
    return names->wanted ? demangle(name, &names->plain) : name;
}
