// Looks for four keys among the lines of a file by mapping: strings THREADS FILE.
//
// The file is mapped. A task copies each line of its part, hashes it letter by letter, and compares the hash with
// those of the keys. Both buffers are cleared for each line. Nothing is emitted.
#include <string.h>

#include "mapped.h"
#include "mapreduce.h"

enum { LONGEST = 1024, OFFSET = 5, KEYS = 4, CHUNK = 65536 };

static const char *const keys[KEYS] = {"helloworld", "howareyou", "ferrari", "whotheman"};
static char hashes[KEYS][LONGEST];
static char *file;
static long bytes;
static int found;

static void hash_word(char *into, const char *word)
{
    int i;
    for (i = 0; word[i]; i++)
        into[i] = word[i] + OFFSET;
    into[i] = 0;
}

static void search(long first, long count)
{
    char *word = malloc(LONGEST), *hashed = malloc(LONGEST);
    if (!word || !hashed)
        exit(1);
    for (long i = first, end = first + count; i < end; i++) {
        memset(word, 0, LONGEST);
        memset(hashed, 0, LONGEST);
        for (int length = 0; i < end && file[i] != '\n'; i++)
            if (length < LONGEST - 1)
                word[length++] = file[i];
        hash_word(hashed, word);
        for (int key = 0; key < KEYS; key++)
            if (!strcmp(hashes[key], hashed))
                __atomic_fetch_add(&found, 1, __ATOMIC_RELAXED);
    }
    free(word);
    free(hashed);
}

static long end_of_line(long here)
{
    while (here < bytes && file[here - 1] != '\n')
        here++;
    return here;
}

int main(int argc, char **argv)
{
    int threads = argc == 3 ? atoi(argv[1]) : 0;
    if (threads < 1)
        return 2;
    for (int key = 0; key < KEYS; key++)
        hash_word(hashes[key], keys[key]);
    file = map_file(argv[2], &bytes);
    long none;
    struct job job = {bytes, CHUNK, end_of_line, search, NULL, NULL, NULL};
    make_pool(threads);
    map_reduce(&job, &none);
    printf("%d\n", found);
    unmap_file(file, bytes);
    return 0;
}
