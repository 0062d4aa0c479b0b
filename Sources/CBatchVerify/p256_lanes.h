/// The lanes' share of what CBatchVerify.h declares.
#pragma once

#include <stddef.h>

/// The bytes that the lanes need of the caller's scratch.
size_t cbv_p256_lanes_scratch_bytes(void);
