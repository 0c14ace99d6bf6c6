/* Opens the library named by its argument, uses it, closes it, several times over. */
#include "check.h"
#include <dlfcn.h>

int main(int count, char **arguments)
{
    CHECK(count == 2);
    for (int i = 0; i < 5; i++) {
        void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        CHECK(library);
        int (*function)(void) = (int (*)(void))dlsym(library, "early_library_answer");
        CHECK(function);
        GIVES(42, function());
        GIVES(0, dlclose(library));
    }
    return finish();
}
