// A program with a long start of one thread, and little behind it: starts HOW. HOW is fill, tree, sort or compute.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *below[2];
    uint64_t key;
};

static uint64_t state = 1;

static uint64_t next(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

static struct node *tree(long count)
{
    struct node *top = NULL;
    for (long i = 0; i < count; i++) {
        struct node **at = &top, *one = malloc(sizeof *one);
        *one = (struct node){.key = next()};
        while (*at)
            at = &(*at)->below[one->key > (*at)->key];
        *at = one;
    }
    return top;
}

static int compare(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

// The part.
__attribute__((noinline)) void part(const void *what)
{
    printf("%d\n", what != NULL);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "tree")) {
        part(tree(300000));
    } else if (!strcmp(how, "fill") || !strcmp(how, "sort")) {
        long count = how[0] == 'f' ? 50000000 : 2000000;
        uint64_t *values = malloc(count * sizeof *values);
        for (long i = 0; i < count; i++)
            values[i] = next();
        if (how[0] == 's')
            qsort(values, count, sizeof *values, compare);
        part(values);
    } else if (!strcmp(how, "compute")) {
        double sum = 0;
        for (long i = 1; i < 100000000; i++)
            sum += 1.0 / i;
        part(sum > 1 ? &sum : NULL);
    } else {
        return 2;
    }
    return 0;
}
