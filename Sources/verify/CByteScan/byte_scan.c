#include "CByteScan.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

AVX2 static size_t plain_run(const uint8_t *bytes, size_t count) {
    const __m256i space = _mm256_set1_epi8(' '), quote = _mm256_set1_epi8('"'), backslash = _mm256_set1_epi8('\\');
    size_t i = 0;
    for (; count - i >= 32; i += 32) {
        __m256i c = _mm256_loadu_si256((const __m256i *)(bytes + i));
        // Signed: what is from 0x80 on is below a space too.
        __m256i stops = _mm256_or_si256(_mm256_cmpgt_epi8(space, c),
                                        _mm256_or_si256(_mm256_cmpeq_epi8(c, quote), _mm256_cmpeq_epi8(c, backslash)));
        unsigned mask = (unsigned)_mm256_movemask_epi8(stops);
        if (mask) return i + (size_t)__builtin_ctz(mask);
    }
    return i;
}

/// The same table for both halves of a register, whose lookups do not cross.
AVX2 static __m256i table(__m128i entries) { return _mm256_broadcastsi128_si256(entries); }

/// The values of 32 characters. A character belongs to one of eight classes by its high four bits, and is of the alphabet
/// where its low four bits allow that class; its value is a sum with a constant of the class, but for '/'.
AVX2 static __m256i values(__m256i c, int *is_foreign) {
    const __m256i low_nibble = _mm256_set1_epi8(0x0F);
    // Bit k of an entry: class k does not have these low bits. Class 2: + and /; 3: digits; 4 and 6: no @ and `; 5 and 7: up to
    // z; the others have none.
    const __m256i lacks = table(_mm_setr_epi8(0x57, 0x07, 0x07, 0x07, 0x07, 0x07, 0x07, 0x07, 0x07, 0x07, 0x0F, (char)0xAB,
                                              (char)0xAF, (char)0xAF, (char)0xAF, (char)0xAB));
    const __m256i class_bit = table(_mm_setr_epi8(1, 1, 4, 8, 16, 32, 64, (char)128, 1, 1, 1, 1, 1, 1, 1, 1));
    const __m256i offset = table(_mm_setr_epi8(0, 0, 62 - '+', 52 - '0', -'A', -'A', 26 - 'a', 26 - 'a', 0, 0, 0, 0, 0, 0, 0, 0));
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(c, 4), low_nibble);
    __m256i low = _mm256_and_si256(c, low_nibble);
    __m256i foreign = _mm256_and_si256(_mm256_shuffle_epi8(lacks, low), _mm256_shuffle_epi8(class_bit, high));
    *is_foreign = !_mm256_testz_si256(foreign, foreign);
    // '/' is four above '+', and its value one above.
    __m256i slash = _mm256_cmpeq_epi8(c, _mm256_set1_epi8('/'));
    __m256i sum = _mm256_add_epi8(c, _mm256_shuffle_epi8(offset, high));
    return _mm256_sub_epi8(sum, _mm256_and_si256(slash, _mm256_set1_epi8(3)));
}

AVX2 static size_t base64_run(const uint8_t *text, size_t count, uint8_t *bytes, size_t room, int *has_signs) {
    const __m256i bytes_of_groups = table(_mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1));
    __m256i signs = _mm256_setzero_si256();
    size_t read = 0, written = 0;
    // 32 bytes are stored, of which 24 count.
    while (count - read >= 32 && room - written >= 32) {
        int is_foreign;
        __m256i value = values(_mm256_loadu_si256((const __m256i *)(text + read)), &is_foreign);
        if (is_foreign) break;
        signs = _mm256_or_si256(signs, _mm256_cmpgt_epi8(value, _mm256_set1_epi8(61)));
        // Two values to 12 bits, two of these to 24.
        __m256i pairs = _mm256_maddubs_epi16(value, _mm256_set1_epi32(0x01400140));
        __m256i groups = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00011000));
        __m256i packed = _mm256_shuffle_epi8(groups, bytes_of_groups);
        packed = _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7));
        _mm256_storeu_si256((__m256i *)(bytes + written), packed);
        read += 32;
        written += 24;
    }
    if (!_mm256_testz_si256(signs, signs)) *has_signs = 1;
    return read;
}

/// The library asks the processor, and whether the system saves the registers.
static int is_fit(void) { return __builtin_cpu_supports("avx2"); }

#elif defined(__aarch64__)

#include <arm_neon.h>

static size_t plain_run(const uint8_t *bytes, size_t count) {
    size_t i = 0;
    for (; count - i >= 16; i += 16) {
        uint8x16_t c = vld1q_u8(bytes + i);
        uint8x16_t stops = vorrq_u8(vcltq_s8(vreinterpretq_s8_u8(c), vdupq_n_s8(' ')),
                                    vorrq_u8(vceqq_u8(c, vdupq_n_u8('"')), vceqq_u8(c, vdupq_n_u8('\\'))));
        // Four bits of each byte.
        uint64_t mask = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(stops), 4)), 0);
        if (mask) return i + (size_t)(__builtin_ctzll(mask) >> 2);
    }
    return i;
}

/// The values of the characters from 0 to 63, then from 64 to 127; 0xFF = not of the alphabet.
static const uint8_t value_of[128] = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 62,  255, 255, 255, 63,  52,  53,  54,  55,
    56,  57,  58,  59,  60,  61,  255, 255, 255, 255, 255, 255, 255, 0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   10,  11,  12,
    13,  14,  15,  16,  17,  18,  19,  20,  21,  22,  23,  24,  25,  255, 255, 255, 255, 255, 255, 26,  27,  28,  29,  30,  31,  32,
    33,  34,  35,  36,  37,  38,  39,  40,  41,  42,  43,  44,  45,  46,  47,  48,  49,  50,  51,  255, 255, 255, 255, 255};

static size_t base64_run(const uint8_t *text, size_t count, uint8_t *bytes, size_t room, int *has_signs) {
    const uint8x16x4_t below = vld1q_u8_x4(value_of), above = vld1q_u8_x4(value_of + 64);
    uint8x16_t signs = vdupq_n_u8(0);
    size_t read = 0, written = 0;
    while (count - read >= 64 && room - written >= 48) {
        uint8x16x4_t c = vld4q_u8(text + read), v;
        uint8x16_t foreign = vdupq_n_u8(0);
        for (int k = 0; k < 4; k++) {
            // What is out of a table's range stays: 0 where it is out of both.
            v.val[k] = vqtbx4q_u8(vqtbl4q_u8(below, c.val[k]), above, veorq_u8(c.val[k], vdupq_n_u8(64)));
            foreign = vorrq_u8(foreign, vorrq_u8(c.val[k], v.val[k]));
        }
        if (vmaxvq_u8(foreign) >= 128) break;
        for (int k = 0; k < 4; k++) signs = vorrq_u8(signs, vcgtq_u8(v.val[k], vdupq_n_u8(61)));
        uint8x16x3_t group;
        group.val[0] = vorrq_u8(vshlq_n_u8(v.val[0], 2), vshrq_n_u8(v.val[1], 4));
        group.val[1] = vorrq_u8(vshlq_n_u8(v.val[1], 4), vshrq_n_u8(v.val[2], 2));
        group.val[2] = vorrq_u8(vshlq_n_u8(v.val[2], 6), v.val[3]);
        vst3q_u8(bytes + written, group);
        read += 64;
        written += 48;
    }
    if (vmaxvq_u8(signs)) *has_signs = 1;
    return read;
}

static int is_fit(void) { return 1; }

#else

static size_t plain_run(const uint8_t *bytes, size_t count) { return 0 * (bytes[0] + count); }
static size_t base64_run(const uint8_t *text, size_t count, uint8_t *bytes, size_t room, int *has_signs) {
    return 0 * (text[0] + count + bytes[0] + room + (size_t)*has_signs);
}
static int is_fit(void) { return 0; }

#endif

size_t cbs_plain_run(const uint8_t *bytes, size_t count) { return is_fit() ? plain_run(bytes, count) : 0; }

size_t cbs_base64_run(const uint8_t *text, size_t count, uint8_t *bytes, size_t room, int *has_signs) {
    return is_fit() ? base64_run(text, count, bytes, room, has_signs) : 0;
}
