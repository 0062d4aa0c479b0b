// A wall clock of a process's own: preloaded, it adds an offset to CLOCK_REALTIME and to nothing else.
//
// The offset, an int64_t of milliseconds, lies in the file that CLOCK_OFFSET names, and may change at any time. No file = 0.
// Waits until a moment of that clock last as long as they would: the kernel, which ends them, knows nothing of the offset.
// A wait that is under way when the clock is set goes on as it began.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static const int64_t zero = 0;
static const volatile int64_t *offset = &zero;

static int (*real_clock_gettime)(clockid_t, struct timespec *);
static int (*real_cond)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*real_cnd)(cnd_t *, mtx_t *, const struct timespec *);
static int (*real_sem)(sem_t *, const struct timespec *);

__attribute__((constructor)) static void begin(void) {
    // Older names of the same functions have other structures.
    void *cond = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    real_cond = cond ? cond : dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    real_cnd = dlsym(RTLD_NEXT, "cnd_timedwait");
    real_sem = dlsym(RTLD_NEXT, "sem_timedwait");
    real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    const char *path = getenv("CLOCK_OFFSET");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, sizeof zero, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) offset = page;
    close(file);
}

static void add(struct timespec *time, int64_t milliseconds) {
    int64_t nanoseconds = time->tv_nsec + milliseconds % 1000 * 1000000;
    time->tv_sec += milliseconds / 1000 + nanoseconds / 1000000000 - (nanoseconds < 0);
    time->tv_nsec = (nanoseconds % 1000000000 + 1000000000) % 1000000000;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int code = real_clock_gettime ? real_clock_gettime(clock, time) : (int)syscall(SYS_clock_gettime, clock, time);
    if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) add(time, *offset);
    return code;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *place) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    if (place) *place = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *time, int base) {
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

static struct timespec real(const struct timespec *until) {
    struct timespec time = *until;
    add(&time, -*offset);
    // Before 1970 is over, and not a mistake.
    if (time.tv_sec < 0) time.tv_sec = time.tv_nsec = 0;
    return time;
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until) {
    // glibc keeps a condition's clock in this bit; most conditions wait for the monotonic one.
    if (cond->__data.__wrefs & 2) return real_cond(cond, mutex, until);
    struct timespec time = real(until);
    return real_cond(cond, mutex, &time);
}

int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict until) {
    struct timespec time = real(until);
    return real_cnd(cond, mutex, &time);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
    struct timespec time = real(until);
    return real_sem(semaphore, &time);
}
