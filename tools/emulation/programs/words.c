// Counts the words of a text by mapping and reducing: words THREADS FILE.
//
// The file is mapped. A task makes the letters of its part capital and ends each word with a zero, both in place, so
// that each page becomes the program's own. It emits each word. At last one thread sorts the words by count.
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "mapped.h"
#include "mapreduce.h"

enum { CHUNK = 65536 };

static char *text;
static long bytes;

static void split(long first, long count)
{
    char *start = NULL;
    for (long i = first; i < first + count; i++) {
        int letter = toupper((unsigned char)text[i]);
        bool is_letter = (letter >= 'A' && letter <= 'Z') || letter == '\'';
        if (is_letter) {
            text[i] = letter;
            start = start ? start : &text[i];
        } else if (start) {
            text[i] = 0;
            emit(start, (void *)1);
            start = NULL;
        }
    }
    if (start)
        emit(start, (void *)1);
}

static long end_of_word(long here)
{
    while (here < bytes && text[here - 1] != ' ')
        here++;
    return here;
}

static int compare(const void *one, const void *other)
{
    return strcmp(one, other);
}

static unsigned hash(const void *key)
{
    unsigned hash = 5381;
    for (const unsigned char *at = key; *at; at++)
        hash = hash * 33 + *at;
    return hash;
}

static int by_count(const void *one, const void *other)
{
    intptr_t a = (intptr_t)((const struct result *)one)->value, b = (intptr_t)((const struct result *)other)->value;
    return (a < b) - (a > b);
}

int main(int argc, char **argv)
{
    int threads = argc == 3 ? atoi(argv[1]) : 0;
    if (threads < 1)
        return 2;
    text = map_file(argv[2], &bytes);
    long found;
    struct job job = {bytes, CHUNK, end_of_word, split, sum_of, compare, hash};
    make_pool(threads);
    struct result *results = map_reduce(&job, &found);
    qsort(results, found, sizeof *results, by_count);
    for (long i = 0; i < 10 && i < found; i++)
        printf("%s %ld\n", (char *)results[i].key, (long)(intptr_t)results[i].value);
    unmap_file(text, bytes);
    return 0;
}
