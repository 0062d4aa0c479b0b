/// Long runs of bytes, 16 to 32 at a time, for the parts of JSON that are megabytes a second of base64. What they stop at is the
/// caller's: each works on as much of its input as it is sure of. Without AVX2 or NEON that is nothing.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// How many of the first bytes are plain in a JSON string: none of them a quote, a backslash, a control character, or from 0x80
/// on. A byte after them may be plain too.
size_t cbs_plain_run(const uint8_t *bytes, size_t count);

/// Decodes whole groups of characters of base64's standard alphabet (RFC 4648, section 4) up to the first other character, or to
/// some before it.
///
/// - text, count: without padding.
/// - bytes, room: where three bytes for each four characters go; `bytes` may be `text`. What is beyond them is not written.
/// - has_signs: becomes 1 where a character was '+' or '/', which only this alphabet has.
///
/// Returns how many characters were decoded, a multiple of four.
size_t cbs_base64_run(const uint8_t *text, size_t count, uint8_t *bytes, size_t room, int *has_signs);
