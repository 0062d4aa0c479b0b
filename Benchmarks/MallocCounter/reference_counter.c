#include "CMallocCounter.h"

// The linker leads each call of these functions through a wrapper (--wrap, in Package.swift). It is assembly, since a caller may
// expect any register to stay as it is. A null pointer, and a short text in the place of one, whose top bit is set, has no count.
#if defined(__x86_64__)

_Thread_local uint64_t reference_calls __attribute__((tls_model("local-exec")));

#define COUNTED(name)                                \
    __asm__(".text\n.globl __wrap_" #name "\n"       \
            ".type __wrap_" #name ", @function\n"    \
            "__wrap_" #name ":\n"                    \
            "    testq %rdi, %rdi\n"                 \
            "    jle 1f\n"                           \
            "    incq %fs:reference_calls@tpoff\n"   \
            "1:  jmp __real_" #name "@PLT\n")

COUNTED(swift_retain);
COUNTED(swift_retain_n);
COUNTED(swift_release);
COUNTED(swift_release_n);
COUNTED(swift_bridgeObjectRetain);
COUNTED(swift_bridgeObjectRetain_n);
COUNTED(swift_bridgeObjectRelease);
COUNTED(swift_bridgeObjectRelease_n);

uint64_t references_of_thread(void) { return reference_calls; }

#else

uint64_t references_of_thread(void) { return 0; }

#endif
