// Counts the words of a text: words THREADS FILE.
//
// The file is mapped. Each thread makes the letters of its part capital and ends each word with a zero, both in place,
// so that each page becomes its own. It keeps its words in a sorted array, which is allocated anew when it is full. How
// full each array is, stands beside the same of the other threads. Then half of the threads each merge two arrays, half
// of these again, and so on, with new threads each time. The first thread sorts the rest by count.
#include <ctype.h>
#include <pthread.h>
#include <string.h>

#include "mapped.h"

enum { FIRST = 500 };

struct word {
    char *at;
    int count;
};

struct part {
    char *at;
    long bytes;
    int number;
};

struct pair {
    int into, from;
};

static struct word **words;
static int *used, *room;

static void add(char *at, int me)
{
    int low = 0, high = used[me] - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        int order = strcmp(at, words[me][middle].at);
        if (order == 0) {
            words[me][middle].count++;
            return;
        }
        if (order < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    if (used[me] == room[me]) {
        room[me] *= 2;
        words[me] = realloc(words[me], room[me] * sizeof **words);
        if (!words[me])
            exit(1);
    }
    memmove(&words[me][low + 1], &words[me][low], (used[me] - low) * sizeof **words);
    words[me][low] = (struct word){at, 1};
    used[me]++;
}

static void *count(void *argument)
{
    struct part *part = argument;
    words[part->number] = malloc(FIRST * sizeof **words);
    if (!words[part->number])
        exit(1);
    char *start = NULL;
    for (long i = 0; i < part->bytes; i++) {
        int letter = toupper((unsigned char)part->at[i]);
        int is_letter = (letter >= 'A' && letter <= 'Z') || letter == '\'';
        if (start) {
            part->at[i] = letter;
            if (!is_letter) {
                part->at[i] = 0;
                add(start, part->number);
                start = NULL;
            }
        } else if (is_letter) {
            start = &part->at[i];
            part->at[i] = letter;
        }
    }
    if (start)
        add(start, part->number);
    return NULL;
}

static void *merge(void *argument)
{
    struct pair *pair = argument;
    struct word *one = words[pair->into], *other = words[pair->from];
    int ones = used[pair->into], others = used[pair->from];
    struct word *all = malloc((ones + others) * sizeof *all);
    if (!all)
        exit(1);
    int i = 0, j = 0, count_of = 0;
    while (i < ones || j < others) {
        int order = i == ones ? 1 : j == others ? -1 : strcmp(one[i].at, other[j].at);
        all[count_of] = order <= 0 ? one[i] : other[j];
        if (order == 0)
            all[count_of].count += other[j].count;
        i += order <= 0, j += order >= 0, count_of++;
    }
    free(one);
    free(other);
    words[pair->into] = all, words[pair->from] = NULL;
    used[pair->into] = room[pair->into] = count_of;
    return NULL;
}

static int by_count(const void *a, const void *b)
{
    return ((const struct word *)b)->count - ((const struct word *)a)->count;
}

int main(int argc, char **argv)
{
    int threads = argc == 3 ? atoi(argv[1]) : 0;
    if (threads < 1)
        return 2;
    long bytes, first = 0;
    char *file = map_file(argv[2], &bytes);
    words = calloc(threads, sizeof *words);
    used = calloc(threads, sizeof *used);
    room = calloc(threads, sizeof *room);
    struct part *parts = calloc(threads, sizeof *parts);
    struct pair *pairs = calloc(threads, sizeof *pairs);
    pthread_t *made = malloc(threads * sizeof *made);
    if (!words || !used || !room || !parts || !pairs || !made)
        return 1;
    for (int i = 0; i < threads; i++) {
        long end = i == threads - 1 ? bytes : bytes / threads * (i + 1);
        while (end < bytes && file[end] != ' ')
            end++;
        room[i] = FIRST;
        parts[i] = (struct part){file + first, end - first, i};
        first = end;
        pthread_create(&made[i], NULL, count, &parts[i]);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    for (int apart = 1; apart < threads; apart *= 2) {
        for (int i = 0; i + apart < threads; i += 2 * apart) {
            pairs[i] = (struct pair){i, i + apart};
            pthread_create(&made[i], NULL, merge, &pairs[i]);
        }
        for (int i = 0; i + apart < threads; i += 2 * apart)
            pthread_join(made[i], NULL);
    }
    qsort(words[0], used[0], sizeof **words, by_count);
    for (int i = 0; i < 10 && i < used[0]; i++)
        printf("%s %d\n", words[0][i].at, words[0][i].count);
    unmap_file(file, bytes);
    return 0;
}
