#define _GNU_SOURCE
#include "crash_mark.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static const int signals[] = {SIGILL, SIGTRAP, SIGSEGV, SIGABRT, SIGBUS, SIGFPE};
#define SIGNALS (sizeof signals / sizeof *signals)

static struct sigaction former[SIGNALS];
static const volatile int64_t *slots[CRASH_MARK_MOST_SLOTS];
static volatile int64_t *marks;
static int slot_count, slot_words;
static pid_t own_process;

static pthread_key_t stack_key;
static int has_stack_key;
static const size_t stack_bytes = 64 * 1024;

// Signal handlers may only touch memory that exists, and call functions that POSIX lists as safe.
static void mark(int number) {
    int64_t self = (int64_t)pthread_self();
    for (int index = 0; index < slot_count; index++) {
        if (slots[index][0] != self) continue;
        volatile int64_t *own = marks + (ptrdiff_t)index * (1 + slot_words);
        for (int word = 0; word < slot_words; word++) own[1 + word] = slots[index][word];
        // Last: without it the mark does not count.
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        own[0] = number;
    }
}

static void handle(int number, siginfo_t *info, void *context) {
    (void)context;
    int saved = errno;
    // First: a fault in this handler then ends the process.
    for (size_t index = 0; index < SIGNALS; index++) {
        if (signals[index] == number) sigaction(number, &former[index], NULL);
    }
    // A signal from another process is not a crash.
    int is_fault = info->si_code > 0;
    if (is_fault || info->si_pid == own_process) mark(number);
    // A fault happens again as soon as this returns. A breakpoint would be skipped, and a sent signal comes only once.
    if (!is_fault || number == SIGTRAP) raise(number);
    errno = saved;
}

static void release_stack(void *memory) {
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    munmap(memory, stack_bytes);
}

int crash_mark_install(const int64_t *const *given, int count, int words, int64_t *target) {
    if (count < 0 || count > CRASH_MARK_MOST_SLOTS || marks != NULL) return -1;
    for (int index = 0; index < count; index++) slots[index] = given[index];
    slot_count = count;
    slot_words = words;
    marks = target;
    own_process = getpid();
    has_stack_key = pthread_key_create(&stack_key, release_stack) == 0;
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = handle;
    sigemptyset(&action.sa_mask);
    for (size_t index = 0; index < SIGNALS; index++) {
        if (sigaction(signals[index], &action, &former[index]) != 0) return -1;
    }
    return 0;
}

void crash_mark_prepare_thread(void) {
    if (!has_stack_key || pthread_getspecific(stack_key) != NULL) return;
    // Dispatch's threads block it. glibc's abort does not unblock it from 2.41 on, and then ends the process unmarked.
    sigset_t abort_only;
    sigemptyset(&abort_only);
    sigaddset(&abort_only, SIGABRT);
    pthread_sigmask(SIG_UNBLOCK, &abort_only, NULL);
    stack_t present;
    // An existing signal stack, a sanitizer's for example, does as well.
    if (sigaltstack(NULL, &present) != 0 || !(present.ss_flags & SS_DISABLE)) return;
    void *memory = mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    stack_t own = {.ss_sp = memory, .ss_size = stack_bytes};
    if (sigaltstack(&own, NULL) != 0 || pthread_setspecific(stack_key, memory) != 0) release_stack(memory);
}
