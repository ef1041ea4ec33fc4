/* Start code of an executable for bionic, written from facts about its interface.
 *
 * _start hands the raw argument block to __libc_init, which never returns. linker64 has run the
 * constructors already; of the structors a dynamic executable fills only fini, whose first entry is -1. */
#include <stddef.h>

typedef void (*function)(void);

struct structors {
    const function *preinit, *init, *fini;
    size_t preinit_count, init_count, fini_count;
};

int main(int argc, char **argv);
void heapprof_start(void *raw) __attribute__((noreturn, visibility("hidden")));
void __libc_init(void *raw, void (*on_exit)(void), int (*main)(int, char **), const struct structors *structors)
    __attribute__((noreturn));

static const function fini[] = {(function)(size_t)-1, NULL};

void heapprof_start(void *raw) {
    const struct structors structors = {NULL, NULL, fini, 0, 0, 0};
    __libc_init(raw, NULL, main, &structors);
}

__asm__(".text\n"
        ".globl _start\n"
        ".type _start, %function\n"
        "_start:\n"
        "    mov x29, #0\n" /* the end of the chain of frames, for whoever walks it */
        "    mov x30, #0\n"
        "    mov x0, sp\n"
        "    b heapprof_start\n"
        ".size _start, . - _start\n"
        ".section .note.android.ident, \"a\", %note\n"
        ".balign 4\n"
        ".long 8\n" /* size of the name */
        ".long 4\n" /* size of the value */
        ".long 1\n" /* type */
        ".asciz \"Android\"\n"
        ".long 28\n" /* API level */
        ".text\n");
