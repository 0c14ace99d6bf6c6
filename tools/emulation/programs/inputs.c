// Writes what the other programs read: inputs pixels|points|keys|words|options AMOUNT >FILE.
//
// AMOUNT is in bytes, for options in lines. Pixels are a bitmap of three bytes each, in which all values are as
// likely. Points are two bytes each, close to a line. Keys are lines of some eight letters. Words are as frequent as
// their rank is low, and end in a blank. Options are lines of six numbers.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 54, VOCABULARY = 20000, LONGEST = 12 };

static uint64_t state = 88172645463325252;

static uint64_t next(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state >> 11;
}

static double uniform(double from, double to)
{
    return from + (to - from) * (next() / 9007199254740992.0);
}

static void pixels(long bytes)
{
    char header[HEADER] = {'B', 'M'};
    header[10] = HEADER, header[28] = 24;
    fwrite(header, 1, HEADER, stdout);
    for (long i = HEADER; i < bytes; i++)
        putchar(next() & 255);
}

static void points(long bytes)
{
    for (long i = 0; i + 1 < bytes; i += 2) {
        int x = next() % 100;
        putchar(x);
        putchar(x + next() % 27);
    }
}

static int word(char *at)
{
    int length = 3 + next() % (LONGEST - 3);
    for (int i = 0; i < length; i++)
        at[i] = 'a' + next() % 26;
    return length;
}

static void keys(long bytes)
{
    char one[LONGEST];
    for (long done = 0; done < bytes;) {
        int length = word(one);
        one[length] = '\n';
        done += fwrite(one, 1, length + 1, stdout);
    }
}

static void words(long bytes)
{
    static char known[VOCABULARY][LONGEST];
    static double upto[VOCABULARY];
    double sum = 0;
    for (int i = 0; i < VOCABULARY; i++) {
        int length = word(known[i]);
        known[i][length] = ' ';
        upto[i] = sum += 1.0 / (i + 2);
    }
    for (long done = 0; done < bytes;) {
        double wanted = uniform(0, sum);
        int low = 0, high = VOCABULARY - 1;
        while (low < high) {
            int middle = (low + high) / 2;
            if (upto[middle] < wanted)
                low = middle + 1;
            else
                high = middle;
        }
        done += fwrite(known[low], 1, strchr(known[low], ' ') - known[low] + 1, stdout);
    }
}

static void options(long lines)
{
    printf("%ld\n", lines);
    for (long i = 0; i < lines; i++)
        printf("%.2f %.2f %.4f %.2f %.2f %c\n", uniform(50, 150), uniform(50, 150), uniform(0.02, 0.1),
               uniform(0.05, 0.65), uniform(0.1, 1), next() & 1 ? 'P' : 'C');
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*write)(long);
    } kinds[] = {{"pixels", pixels}, {"points", points}, {"keys", keys}, {"words", words}, {"options", options}};
    long amount = argc == 3 ? atol(argv[2]) : 0;
    for (size_t i = 0; amount > 0 && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(argv[1], kinds[i].name)) {
            kinds[i].write(amount);
            return fflush(stdout) ? 1 : 0;
        }
    return 2;
}
