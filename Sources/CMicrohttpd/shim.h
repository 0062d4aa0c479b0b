#pragma once
#include <microhttpd.h>

// The importer drops variadic functions.
static inline struct MHD_Daemon *CMicrohttpd_start(
    unsigned int flags, int listener, unsigned int connections, unsigned int perAddress, unsigned int timeoutSeconds,
    size_t memoryPerConnection, MHD_AccessHandlerCallback handler, void *context) {
    return MHD_start_daemon(
        flags, 0, NULL, NULL, handler, context,
        MHD_OPTION_LISTEN_SOCKET, listener,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, perAddress,
        MHD_OPTION_CONNECTION_TIMEOUT, timeoutSeconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memoryPerConnection,
        MHD_OPTION_END);
}
