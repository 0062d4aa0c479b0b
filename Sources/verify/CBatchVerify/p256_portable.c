// u1 G + u2 Q, where u1 = c + 2^128 d and u2 = a + 2^128 b: four sums on the same 128 doublings, with odd multiples of
// Q and 2^128 Q (made for each call) and of G and 2^128 G (made once).
#include "p256_portable.h"

#include "p256_order.h"
#include "p256_points.h"

typedef struct cbv_element element;

enum {
    /// Bits of a window on the key's points, and how many odd multiples that takes.
    KEY_WINDOW = 5,
    KEY_MULTIPLES = 1 << (KEY_WINDOW - 2),
    GENERATOR_WINDOW = 14,
    GENERATOR_MULTIPLES = 1 << (GENERATOR_WINDOW - 2),
    HALVES = 2,
    /// Digits of a half: a carry may follow its 128 bits.
    DIGITS = 129,
};

/// The odd multiples of G, then those of 2^128 G.
static struct cbv_affine generator_table[HALVES][GENERATOR_MULTIPLES] __attribute__((aligned(64)));

/// p - n, in two words with the most significant first.
static const uint64_t prime_less_order[2] = {0x4319055358e8617b, 0x0c46353d039cdaae};

/// n as an element.
static const element order_element = {{0x9ad169483335f568, 0x89b1054463fe9931, 0x9c0166ce652e96b7, 0x98648c200fe30feb}};

struct scratch {
    /// The odd multiples of each key's Q, then those of its 2^128 Q.
    struct cbv_affine multiple[CBV_MOST][HALVES][KEY_MULTIPLES];
    struct cbv_affine twice[CBV_MOST_POINTS];
    struct cbv_jacobian point[CBV_MOST];
    struct cbv_inverses inverses;
    uint64_t u1[CBV_MOST * 4], u2[CBV_MOST * 4];
    uint8_t sound[CBV_MOST];
};

/// Digits of the halves of u1 and u2, each zero or odd: at most one of `window` successive ones is not zero.
struct digits {
    int16_t generator[HALVES][DIGITS], key[HALVES][DIGITS];
};

size_t cbv_p256_portable_scratch_bytes(void) {
    return sizeof(struct scratch);
}

/// Makes the odd multiples of a point: what is there doubles until the table is full.
static void fill_generator_table(struct cbv_affine *table, struct cbv_inverses *inverses) {
    struct cbv_affine step[CBV_MOST], next;
    cbv_affine_double(table, 1, 1, &step[0], inverses);
    for (size_t filled = 1; filled < GENERATOR_MULTIPLES; filled *= 2) {
        size_t chunk = filled < CBV_MOST ? filled : CBV_MOST;
        for (size_t index = 1; index < chunk; index++) step[index] = step[0];
        for (size_t start = 0; start < filled; start += chunk) {
            cbv_affine_add(table + start, 1, step, chunk, table + filled + start, inverses);
        }
        cbv_affine_double(step, 1, 1, &next, inverses);
        step[0] = next;
    }
}

void cbv_p256_portable_prepare(void) {
    struct cbv_inverses inverses;
    struct cbv_affine generator = cbv_p256_generator();
    struct cbv_jacobian point = {generator.x, generator.y, cbv_element_one};
    for (int bit = 0; bit < 128; bit++) cbv_jacobian_double(&point);
    generator_table[0][0] = generator;
    cbv_jacobian_normalise(&point, 1, &generator_table[1][0], 1, &inverses);
    for (int half = 0; half < HALVES; half++) fill_generator_table(generator_table[half], &inverses);
}

void cbv_p256_second_portable(size_t count, const uint64_t *x, const uint64_t *y, uint64_t *second, void *memory) {
    struct scratch *scratch = memory;
    for (size_t index = 0; index < count; index++) {
        struct cbv_affine key;
        scratch->sound[index] = cbv_affine_read(x + 4 * index, y + 4 * index, &key) != 0;
        // An unsound key is replaced, so that it stays alone.
        if (!scratch->sound[index]) key = cbv_p256_generator();
        scratch->point[index] = (struct cbv_jacobian){key.x, key.y, cbv_element_one};
        for (int bit = 0; bit < 128; bit++) cbv_jacobian_double(&scratch->point[index]);
    }
    cbv_jacobian_normalise(scratch->point, count, scratch->twice, 1, &scratch->inverses);
    for (size_t index = 0; index < count; index++) {
        element px = cbv_element_number(scratch->twice[index].x), py = cbv_element_number(scratch->twice[index].y);
        for (int word = 0; word < 4; word++) {
            second[8 * index + word] = scratch->sound[index] ? px.word[3 - word] : 0;
            second[8 * index + 4 + word] = scratch->sound[index] ? py.word[3 - word] : 0;
        }
    }
}

/// Which signatures go on: the range of r and s, the key on the curve. The others get stand-ins and a verdict.
static void judge(size_t count, const uint64_t *x, const uint64_t *y, const uint64_t *second, struct scratch *scratch,
                  uint8_t *verdict) {
    for (size_t index = 0; index < count; index++) {
        struct cbv_affine *own = &scratch->multiple[index][0][0], *other = &scratch->multiple[index][1][0];
        verdict[index] = CBV_VALID;
        if (!scratch->sound[index] || !cbv_affine_read(x + 4 * index, y + 4 * index, own)) {
            verdict[index] = CBV_REFUSED;
        } else if (!cbv_affine_read(second + 8 * index, second + 8 * index + 4, other)) {
            verdict[index] = CBV_UNDECIDED;
        }
        if (verdict[index] != CBV_VALID) *own = *other = cbv_p256_generator();
    }
}

/// Makes the odd multiples of all keys' points from the first ones.
static void fill_key_tables(size_t count, struct scratch *scratch) {
    struct cbv_affine *first = &scratch->multiple[0][0][0];
    cbv_affine_double(first, KEY_MULTIPLES, HALVES * count, scratch->twice, &scratch->inverses);
    for (int index = 0; index + 1 < KEY_MULTIPLES; index++) {
        cbv_affine_add(first + index, KEY_MULTIPLES, scratch->twice, HALVES * count, first + index + 1,
                       &scratch->inverses);
    }
}

/// The digits of high 2^64 + low, the lowest first. All are zero before.
static void recode(uint64_t high, uint64_t low, int window, int16_t *digit) {
    unsigned __int128 rest = (unsigned __int128)high << 64 | low;
    int position = 0;
    while (rest != 0) {
        int zeros = (uint64_t)rest != 0 ? __builtin_ctzll((uint64_t)rest) : 64 + __builtin_ctzll((uint64_t)(rest >> 64));
        rest >>= zeros;
        position += zeros;
        int value = (int)rest & ((1 << window) - 1);
        rest >>= window;
        // The upper half of the values stands for negative ones.
        if (value >> (window - 1)) {
            value -= 1 << window;
            rest += 1;
        }
        digit[position] = (int16_t)value;
        position += window;
    }
}

CBV_INLINE void add_multiple(struct cbv_jacobian *sum, const struct cbv_affine *multiple, int digit) {
    if (digit == 0) return;
    int size = digit < 0 ? -digit : digit;
    cbv_jacobian_add(sum, &multiple[size >> 1], digit < 0);
}

/// u1 G + u2 Q.
static struct cbv_jacobian combine(const uint64_t *u1, const uint64_t *u2,
                                   const struct cbv_affine multiple[HALVES][KEY_MULTIPLES]) {
    struct digits digits = {0};
    for (int half = 0; half < HALVES; half++) {
        const int word = 2 - 2 * half;
        recode(u1[word], u1[word + 1], GENERATOR_WINDOW, digits.generator[half]);
        recode(u2[word], u2[word + 1], KEY_WINDOW, digits.key[half]);
    }
    struct cbv_jacobian sum = {0};
    for (int bit = DIGITS - 1; bit >= 0; bit--) {
        cbv_jacobian_double(&sum);
        for (int half = 0; half < HALVES; half++) {
            add_multiple(&sum, multiple[half], digits.key[half][bit]);
            add_multiple(&sum, generator_table[half], digits.generator[half][bit]);
        }
    }
    return sum;
}

/// Whether the x-coordinate of a point is r modulo the order.
static int has_coordinate(const struct cbv_jacobian *point, const uint64_t *r) {
    if (cbv_element_is_zero(point->z)) return 0;
    element number = {{r[3], r[2], r[1], r[0]}}, zz = cbv_element_square(point->z);
    element candidate = cbv_element_of(number);
    if (cbv_element_equals(cbv_element_multiply(candidate, zz), point->x)) return 1;
    // The coordinate, below p, may be r + n as well.
    if (r[0] != 0 || r[1] != 0) return 0;
    if (r[2] > prime_less_order[0] || (r[2] == prime_less_order[0] && r[3] >= prime_less_order[1])) return 0;
    candidate = cbv_element_add(candidate, order_element);
    return cbv_element_equals(cbv_element_multiply(candidate, zz), point->x);
}

void cbv_p256_verify_portable(size_t count, const uint64_t *x, const uint64_t *y, const uint64_t *second,
                              const uint64_t *digest, const uint64_t *r, const uint64_t *s, uint8_t *verdict,
                              void *memory) {
    struct scratch *scratch = memory;
    cbv_p256_scalars(count, digest, r, s, scratch->u1, scratch->u2, scratch->sound);
    judge(count, x, y, second, scratch, verdict);
    fill_key_tables(count, scratch);
    for (size_t index = 0; index < count; index++) {
        if (verdict[index] != CBV_VALID) continue;
        struct cbv_jacobian sum =
            combine(scratch->u1 + 4 * index, scratch->u2 + 4 * index, scratch->multiple[index]);
        if (!has_coordinate(&sum, r + 4 * index)) verdict[index] = CBV_REFUSED;
    }
}
