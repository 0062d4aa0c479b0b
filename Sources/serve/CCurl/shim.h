#pragma once
#include <curl/curl.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

// The importer drops variadic functions.
static inline CURLcode CCurl_setNumber(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

// The library copies the text.
static inline CURLcode CCurl_setText(CURL *easy, CURLoption option, const char *text) {
    return curl_easy_setopt(easy, option, text);
}

// The list stays the caller's, and must outlive the transfer.
static inline CURLcode CCurl_setHeaders(CURL *easy, struct curl_slist *list) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
}

// Each of them gets the same context.
static inline CURLcode CCurl_setCallbacks(
    CURL *easy, curl_write_callback body, curl_write_callback header, curl_read_callback upload, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_READFUNCTION, upload);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_READDATA, context);
    return code;
}

static inline CURLMcode CCurl_setMultiNumber(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// Both of them get the same context.
static inline CURLMcode CCurl_setMultiCallbacks(
    CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    return code;
}

// 0: the library does not know.
static inline long CCurl_number(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

static inline curl_off_t CCurl_size(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

// The next transfer that has ended, and how; NULL: none has.
static inline CURL *CCurl_nextEnded(CURLM *multi, CURLcode *result) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)))
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    return NULL;
}

// What a socket waits for, in libcurl's bits of `CURL_POLL_INOUT`; 0 forgets it.
static inline int CCurl_watch(int poller, int socket, int bits) {
    struct epoll_event event = {0};
    event.data.fd = socket;
    if (bits & CURL_POLL_IN) event.events |= EPOLLIN;
    if (bits & CURL_POLL_OUT) event.events |= EPOLLOUT;
    if (bits == 0) return epoll_ctl(poller, EPOLL_CTL_DEL, socket, &event);
    if (epoll_ctl(poller, EPOLL_CTL_MOD, socket, &event) == 0) return 0;
    return epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event);
}

struct CCurl_event {
    int socket;
    // In libcurl's bits of `CURL_CSELECT_IN` and others.
    int bits;
};

// Waits for events, at most 256 of them. 0: none came, -1: a signal did.
static inline int CCurl_wait(int poller, struct CCurl_event *events, int most, int milliseconds) {
    struct epoll_event found[256];
    int count = epoll_wait(poller, found, most < 256 ? most : 256, milliseconds);
    for (int index = 0; index < count; index++) {
        unsigned int bits = found[index].events;
        events[index].socket = found[index].data.fd;
        events[index].bits = (bits & EPOLLIN ? CURL_CSELECT_IN : 0) | (bits & EPOLLOUT ? CURL_CSELECT_OUT : 0)
            | (bits & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
    }
    return count;
}

// Readable once, after `milliseconds`, 0 being at once; negative: not at all.
static inline int CCurl_setTimer(int timer, long milliseconds) {
    struct itimerspec setting = {{0, 0}, {0, 0}};
    if (milliseconds == 0) setting.it_value.tv_nsec = 1;
    if (milliseconds > 0) {
        setting.it_value.tv_sec = milliseconds / 1000;
        setting.it_value.tv_nsec = (milliseconds % 1000) * 1000000;
    }
    return timerfd_settime(timer, 0, &setting, NULL);
}

static inline int CCurl_makePoller(void) { return epoll_create1(EPOLL_CLOEXEC); }

static inline int CCurl_makeTimer(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); }

// A timer that was read is not readable until it ends again.
static inline void CCurl_readTimer(int timer) {
    unsigned long long turns;
    ssize_t count = read(timer, &turns, sizeof turns);
    (void)count;
}
