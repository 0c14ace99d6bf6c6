// Loads a library, and calls a function of it: loads LIBRARY.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!library)
        return 2;
    void (*solve)(long) = (void (*)(long))dlsym(library, "solve_elsewhere");
    if (!solve)
        return 3;
    for (long call = 1; call <= 3; call++)
        solve(call * 100000);
    puts("done");
    return 0;
}
