#pragma once
#include <zlib.h>

// The importer drops these macros. 16 more than the largest window: gzip's header and trailer.
static inline int CZlib_inflateInit(z_stream *stream) { return inflateInit2(stream, 15 + 16); }
static inline int CZlib_deflateInit(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
