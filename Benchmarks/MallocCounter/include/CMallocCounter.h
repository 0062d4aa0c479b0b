#ifndef C_MALLOC_COUNTER_H
#define C_MALLOC_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/// What a thread has asked the allocator for since it started: a grown block counts as a new one.
struct malloc_counts {
    uint64_t calls;
    uint64_t bytes;
};

/// The calling thread's counts.
struct malloc_counts malloc_counts_of_thread(void);

/// Whether this build counts: not under a sanitizer, which brings its own allocator, and not without glibc.
bool malloc_is_counted(void);

/// How often the calling thread has retained or released an object; counted on x86-64 alone.
uint64_t references_of_thread(void);

#endif
