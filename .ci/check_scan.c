// Long runs of plain bytes and of base64 against one byte after the other: random texts, and each byte at each place of one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CByteScan.h"

enum { MOST = 300 };

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int value(uint8_t character) {
    const char *found = character ? strchr(alphabet, character) : NULL;
    return found ? (int)(found - alphabet) : -1;
}

static int is_plain(uint8_t byte) { return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\'; }

static void fail(const char *what, size_t count) {
    fprintf(stderr, "%s differs for %zu bytes\n", what, count);
    exit(1);
}

/// Blocks as large as what may be touched: a sanitizer sees a byte more.
static void check(const uint8_t *given, size_t count) {
    uint8_t *text = calloc(count, 1);
    if (count) memcpy(text, given, count);
    size_t plain = cbs_plain_run(text, count), end = 0;
    while (end < count && is_plain(text[end])) end++;
    // It may stop before the end, but not where a vector more was plain.
    if (plain > end || end - plain >= 64) fail("a plain run", count);
    size_t room = count / 4 * 3;
    uint8_t *bytes = calloc(room, 1);
    int has_signs = 0, signs = 0;
    size_t read = cbs_base64_run(text, count, bytes, room, &has_signs);
    if (read % 4 || read > count || read / 4 * 3 > room) fail("a length", count);
    for (size_t i = 0; i < read; i += 4) {
        uint32_t group = 0;
        for (size_t k = 0; k < 4; k++) {
            int v = value(text[i + k]);
            if (v < 0) fail("a foreign character", count);
            signs |= v > 61;
            group = group << 6 | (uint32_t)v;
        }
        for (size_t k = 0; k < 3; k++) {
            if (bytes[i / 4 * 3 + k] != (uint8_t)(group >> (16 - 8 * k))) fail("a byte", count);
        }
    }
    if (has_signs != signs) fail("the signs", count);
    size_t right = 0;
    while (right < count && value(text[right]) >= 0) right++;
    if (right / 4 * 4 - read >= 128) fail("a run that was left", count);
    // In place, as escaped texts are decoded.
    if (cbs_base64_run(text, count, text, room, &signs) != read || (read && memcmp(text, bytes, read / 4 * 3) != 0)) {
        fail("decoding in place", count);
    }
    free(bytes);
    free(text);
}

int main(void) {
    uint8_t text[MOST];
    srand(7);
    for (int round = 0; round < 20000; round++) {
        size_t count = (size_t)rand() % MOST;
        for (size_t i = 0; i < count; i++) text[i] = (uint8_t)alphabet[rand() % (round % 3 ? 64 : 62)];
        if (round % 2 && count) text[(size_t)rand() % count] = (uint8_t)rand();
        check(text, count);
    }
    for (size_t place = 0; place < 200; place++) {
        for (int byte = 0; byte < 256; byte++) {
            memset(text, 'Q', sizeof text);
            text[place] = (uint8_t)byte;
            check(text, 200);
        }
    }
    puts("runs of bytes are as they are one by one");
    return 0;
}
