#pragma once
#include <limits.h>
#include <malloc.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

typedef void *(*CMicrohttpd_TargetCallback)(void *context, const char *target, struct MHD_Connection *connection);
typedef size_t (*CMicrohttpd_UnescapeCallback)(void *context, struct MHD_Connection *connection, char *text);

// From 0.9.77 on an option makes the library refuse what RFC 9112 calls malformed. Without it the library writes blanks
// over the line ends of folded headers, which leaves no trace.
#if MHD_VERSION >= 0x00097701
#define CMicrohttpd_STRICT MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1,
#else
#define CMicrohttpd_STRICT
#endif

// Every callback gets the same context. The daemon has no thread: it is run from outside. (The importer drops variadic
// functions.)
static inline struct MHD_Daemon *CMicrohttpd_startServer(
    int listener, unsigned int connections, unsigned int perAddress, unsigned int timeoutSeconds,
    size_t memoryPerConnection,
    MHD_AccessHandlerCallback handler, CMicrohttpd_TargetCallback target, CMicrohttpd_UnescapeCallback unescape,
    MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback connection, MHD_LogCallback log, void *context) {
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, handler, context,
        MHD_OPTION_EXTERNAL_LOGGER, log, context,
        MHD_OPTION_LISTEN_SOCKET, listener,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, perAddress,
        MHD_OPTION_CONNECTION_TIMEOUT, timeoutSeconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memoryPerConnection,
        CMicrohttpd_STRICT
        MHD_OPTION_URI_LOG_CALLBACK, target, context,
        MHD_OPTION_UNESCAPE_CALLBACK, unescape, context,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_NOTIFY_CONNECTION, connection, context,
        MHD_OPTION_END);
}

// Names the calling thread.
static inline void CMicrohttpd_nameThread(const char *name) { prctl(PR_SET_NAME, name); }

// A wakeup: readable from a signal until the next wait; -1: no descriptor is left.
static inline int CMicrohttpd_makeWakeup(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static inline void CMicrohttpd_signal(int wakeup) {
    eventfd_write(wakeup, 1);
}

// Sleeps until the daemon has something to do, or the wakeup is signalled.
static inline void CMicrohttpd_await(struct MHD_Daemon *daemon, int wakeup) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    MHD_UNSIGNED_LONG_LONG milliseconds;
    int timeout = -1;
    if (MHD_get_timeout(daemon, &milliseconds) == MHD_YES) timeout = milliseconds < INT_MAX ? (int)milliseconds : INT_MAX;
    if (timeout == 0) return;
    struct pollfd descriptors[2] = {{info ? info->epoll_fd : -1, POLLIN, 0}, {wakeup, POLLIN, 0}};
    if (poll(descriptors, 2, timeout) > 0 && descriptors[1].revents != 0) {
        eventfd_t signals;
        eventfd_read(wakeup, &signals);
    }
}

// -1: the library does not know.
static inline int CMicrohttpd_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *CMicrohttpd_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

// What the connection's first notification stored.
static inline void *CMicrohttpd_socketContext(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

// From the method's first byte to the end of the blank line; 0: the library does not know.
static inline size_t CMicrohttpd_headSize(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

// Whether the library has read all of a request's headers and has no answer to it, neither its own nor the handler's.
static inline int CMicrohttpd_isJudged(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE) != NULL &&
           MHD_get_connection_info(connection, MHD_CONNECTION_INFO_HTTP_STATUS) == NULL;
}

// The status that the library refuses a request with, if that is what it says; else 0. The sentence stands in every
// release, in no language but English.
static inline unsigned int CMicrohttpd_refusal(const char *format, va_list arguments) {
    return strstr(format, "HTTP response code is %u") ? va_arg(arguments, unsigned int) : 0;
}

// The beginning of the kernel's tcp_info: glibc's own ends earlier, and the kernel's header clashes with it.
struct CMicrohttpd_tcpInfo {
    unsigned char states[8];
    unsigned int numbers[24];
    unsigned long long pacingRate, maxPacingRate, bytesAcked, bytesReceived;
};

struct CMicrohttpd_socket {
    // Bytes since the socket was opened, and one for the other side's end.
    unsigned long long received;
    // Only the other side has ended the connection.
    int isLeft;
    // This side has ended it, and the other had not before.
    int isEnded;
};

// All zero for a descriptor that is not a TCP socket.
static inline struct CMicrohttpd_socket CMicrohttpd_look(int descriptor) {
    struct CMicrohttpd_tcpInfo info = {0};
    struct CMicrohttpd_socket socket = {0};
    socklen_t length = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return socket;
    unsigned char state = info.states[0];
    socket.received = info.bytesReceived;
    socket.isLeft = state == TCP_CLOSE_WAIT;
    socket.isEnded = state == TCP_FIN_WAIT1 || state == TCP_FIN_WAIT2 || state == TCP_TIME_WAIT || state == TCP_CLOSING;
    return socket;
}

// Makes a timer's descriptor readable now.
static inline void CMicrohttpd_ring(int timer) {
    struct itimerspec setting = {{0, 1}, {0, 1}};
    timerfd_settime(timer, 0, &setting, NULL);
}

// A descriptor that can be read each `milliseconds`.
static inline int CMicrohttpd_timer(unsigned int milliseconds) {
    struct timespec period = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    struct itimerspec setting = {period, period};
    int descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (descriptor >= 0 && timerfd_settime(descriptor, 0, &setting, NULL) != 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

// A body's reader returns it to end the connection; the library's own is a macro with a cast.
enum { CMicrohttpd_bodyIsBroken = -2 };

// Gives the heap's free pages back to the system.
static inline void CMicrohttpd_trimHeap(void) { malloc_trim(0); }
