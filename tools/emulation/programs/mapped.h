// A file that is mapped for reading and writing, privately, so that its pages are read where they are until written.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char *map_file(const char *path, long *bytes)
{
    struct stat about;
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &about) || about.st_size == 0) {
        perror(path);
        exit(1);
    }
    // One byte more, which is 0 unless the file fills its last page.
    char *at = mmap(NULL, about.st_size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (at == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    close(file);
    *bytes = about.st_size;
    return at;
}

static void unmap_file(char *at, long bytes)
{
    munmap(at, bytes + 1);
}
