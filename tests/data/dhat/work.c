/* A program whose heap DHAT records: make.sh. */
#include <stdlib.h>
#include <string.h>

struct list {
    struct list *next;
    char text[40];
};

static struct list *push(struct list *list, const char *text)
{
    struct list *head = malloc(sizeof *head);
    if (!head)
        exit(1);
    strncpy(head->text, text, sizeof head->text);
    head->next = list;
    return head;
}

static char *grow(char *text, size_t size)
{
    char *more = realloc(text, size);
    if (!more)
        exit(1);
    memset(more, 'x', size);
    return more;
}

static void release(struct list *list)
{
    while (list) {
        struct list *next = list->next;
        free(list);
        list = next;
    }
}

int main(void)
{
    struct list *kept = NULL, *list = NULL;
    char *text = NULL;
    for (int i = 0; i < 20; i++)
        list = push(list, "released");
    for (int i = 0; i < 3; i++)
        kept = push(kept, "kept");
    for (size_t size = 100; size < 1000; size += 300)
        text = grow(text, size);
    release(list);
    free(text);
    return kept == NULL; /* three blocks are left at the end */
}
