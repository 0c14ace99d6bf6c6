// Looks for four keys among the lines of a file by what a hash makes of them: strings THREADS FILE.
//
// The file is mapped. Each thread copies each line of its part, hashes it letter by letter, and compares the hash with
// those of the keys. Both buffers are cleared for each line.
#include <pthread.h>
#include <string.h>

#include "mapped.h"

enum { LONGEST = 1024, OFFSET = 5, KEYS = 4 };

static const char *const keys[KEYS] = {"helloworld", "howareyou", "ferrari", "whotheman"};
static char hashes[KEYS][LONGEST];

struct part {
    const char *at;
    long bytes;
    int found;
};

static void hash(char *into, const char *word)
{
    int i;
    for (i = 0; word[i]; i++)
        into[i] = word[i] + OFFSET;
    into[i] = 0;
}

static void *search(void *argument)
{
    struct part *part = argument;
    char *word = malloc(LONGEST), *hashed = malloc(LONGEST);
    if (!word || !hashed)
        exit(1);
    for (long i = 0; i < part->bytes;) {
        memset(word, 0, LONGEST);
        memset(hashed, 0, LONGEST);
        int length = 0;
        for (; i < part->bytes && part->at[i] != '\n'; i++)
            if (length < LONGEST - 1)
                word[length++] = part->at[i];
        i++;
        hash(hashed, word);
        for (int key = 0; key < KEYS; key++)
            if (!strcmp(hashes[key], hashed))
                part->found++;
    }
    free(word);
    free(hashed);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc == 3 ? atoi(argv[1]) : 0;
    if (threads < 1)
        return 2;
    for (int key = 0; key < KEYS; key++)
        hash(hashes[key], keys[key]);
    long bytes, first = 0;
    char *file = map_file(argv[2], &bytes);
    struct part *parts = calloc(threads, sizeof *parts);
    pthread_t *made = malloc(threads * sizeof *made);
    if (!parts || !made)
        return 1;
    for (int i = 0; i < threads; i++) {
        long end = i == threads - 1 ? bytes : bytes / threads * (i + 1);
        while (end < bytes && file[end - 1] != '\n')
            end++;
        parts[i].at = file + first;
        parts[i].bytes = end - first;
        first = end;
        pthread_create(&made[i], NULL, search, &parts[i]);
    }
    int found = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(made[i], NULL);
        found += parts[i].found;
    }
    printf("%d\n", found);
    unmap_file(file, bytes);
    return 0;
}
