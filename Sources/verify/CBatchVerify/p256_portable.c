// ECDSA over P-256 on any processor: groups by columns, and a few signatures each by itself.
#include "p256_portable.h"

#include <string.h>

#include "p256_columns.h"
#include "p256_order.h"

typedef struct cbv_element element;

enum {
    /// A group of so many goes by columns. One signature alone takes three times as long that way, and eight a tenth less.
    LEAST_GROUP = 8,
    /// Bits of a window on a key's points, and how many odd multiples that takes.
    KEY_WINDOW = 5,
    KEY_MULTIPLES = 1 << (KEY_WINDOW - 2),
    /// Parts of a scalar, each with a point of its own.
    PARTS = 4,
    /// Digits of a part: a carry may follow its 64 bits.
    DIGITS = 65,
};

/// p - n, in two words with the most significant first.
static const uint64_t prime_less_order[2] = {0x4319055358e8617b, 0x0c46353d039cdaae};

/// n as an element.
static const element order_element = {{0x9ad169483335f568, 0x89b1054463fe9931, 0x9c0166ce652e96b7, 0x98648c200fe30feb}};

struct scratch {
    struct cbv_affine base[CBV_MOST][CBV_BASES];
    struct cbv_jacobian point[CBV_MOST * CBV_P256_POINTS];
    struct cbv_affine affine[CBV_MOST * CBV_P256_POINTS];
    struct cbv_inverses inverses;
    struct cbv_columns columns;
    element x[CBV_MOST];
    uint64_t u1[CBV_MOST * 4], u2[CBV_MOST * 4];
    uint8_t sound[CBV_MOST], is_finite[CBV_MOST];
    /// The odd multiples of each key's Q, then those of its 2^64 Q, 2^128 Q and 2^192 Q.
    struct cbv_affine multiple[LEAST_GROUP][PARTS][KEY_MULTIPLES];
    struct cbv_affine twice[LEAST_GROUP * PARTS];
};

size_t cbv_p256_portable_scratch_bytes(void) {
    return sizeof(struct scratch);
}

void cbv_p256_portable_prepare(void) {
    cbv_p256_windows_prepare();
}

void cbv_p256_points_portable(size_t count, const uint64_t *x, const uint64_t *y, uint64_t *points, void *memory) {
    struct scratch *scratch = memory;
    for (size_t index = 0; index < count; index++) {
        struct cbv_affine key;
        scratch->sound[index] = cbv_affine_read(x + 4 * index, y + 4 * index, &key) != 0;
        // An unsound key is replaced, so that it stays alone.
        if (!scratch->sound[index]) key = cbv_p256_generator();
        struct cbv_jacobian point = {key.x, key.y, cbv_element_one};
        for (size_t place = 0; place < CBV_P256_POINTS; place++) {
            for (int bit = 0; bit < 256 / CBV_BASES; bit++) cbv_jacobian_double(&point);
            scratch->point[CBV_P256_POINTS * index + place] = point;
        }
    }
    count *= CBV_P256_POINTS;
    cbv_jacobian_normalise(scratch->point, count, scratch->affine, 1, &scratch->inverses);
    for (size_t place = 0; place < count; place++) {
        cbv_affine_store(scratch->affine[place], points + 8 * place);
        if (!scratch->sound[place / CBV_P256_POINTS]) memset(points + 8 * place, 0, 8 * sizeof *points);
    }
}

/// Which signatures go on: the range of r and s, the key on the curve. The others get stand-ins: one bad member of a group
/// must not change another's verdict.
static void judge(size_t count, const uint64_t *x, const uint64_t *y, const uint64_t *points, struct scratch *scratch,
                  uint8_t *verdict) {
    for (size_t index = 0; index < count; index++) {
        struct cbv_affine *base = scratch->base[index];
        verdict[index] = scratch->sound[index] ? CBV_VALID : CBV_REFUSED;
        if (!scratch->sound[index]) scratch->u2[4 * index + 3] = 1;
        if (!cbv_affine_read(x + 4 * index, y + 4 * index, &base[0])) {
            verdict[index] = CBV_REFUSED;
            for (int place = 0; place < CBV_BASES; place++) base[place] = cbv_p256_windows[4 * place][0];
            continue;
        }
        for (size_t place = 0; place < CBV_P256_POINTS; place++) {
            base[place + 1] = cbv_affine_load(points + 8 * (CBV_P256_POINTS * index + place));
        }
    }
}

/// Makes the odd multiples of all keys' points from the first ones.
static void fill_key_tables(size_t count, struct scratch *scratch) {
    struct cbv_affine *first = &scratch->multiple[0][0][0];
    for (size_t index = 0; index < count; index++) {
        for (int part = 0; part < PARTS; part++) scratch->multiple[index][part][0] = scratch->base[index][2 * part];
    }
    cbv_affine_double(first, KEY_MULTIPLES, PARTS * count, scratch->twice, &scratch->inverses);
    for (int index = 0; index + 1 < KEY_MULTIPLES; index++) {
        cbv_affine_add(first + index, KEY_MULTIPLES, scratch->twice, PARTS * count, first + index + 1,
                       &scratch->inverses);
    }
}

/// The digits of a part, the lowest first: each zero or odd, at most one of KEY_WINDOW successive ones not zero. All are zero
/// before.
static void recode(uint64_t part, int8_t *digit) {
    unsigned __int128 rest = part;
    int position = 0;
    while (rest != 0) {
        int zeros = (uint64_t)rest != 0 ? __builtin_ctzll((uint64_t)rest) : 64;
        rest >>= zeros;
        position += zeros;
        int value = (int)rest & ((1 << KEY_WINDOW) - 1);
        rest >>= KEY_WINDOW;
        // The upper half of the values stands for negative ones.
        if (value >> (KEY_WINDOW - 1)) {
            value -= 1 << KEY_WINDOW;
            rest += 1;
        }
        digit[position] = (int8_t)value;
        position += KEY_WINDOW;
    }
}

/// u1 G + u2 Q: the sums of the parts of u2 on the same doublings.
static struct cbv_jacobian combine(const uint64_t *u1, const uint64_t *u2,
                                   const struct cbv_affine multiple[PARTS][KEY_MULTIPLES]) {
    int8_t digit[PARTS][DIGITS] = {0};
    for (int part = 0; part < PARTS; part++) recode(u2[3 - part], digit[part]);
    struct cbv_jacobian sum = {0};
    for (int bit = DIGITS - 1; bit >= 0; bit--) {
        cbv_jacobian_double(&sum);
        for (int part = 0; part < PARTS; part++) {
            int own = digit[part][bit], size = own < 0 ? -own : own;
            if (own != 0) cbv_jacobian_add(&sum, &multiple[part][size >> 1], own < 0);
        }
    }
    struct cbv_term term[CBV_WINDOWS];
    const size_t terms = cbv_p256_terms(u1, term);
    for (size_t place = 0; place < terms; place++) cbv_jacobian_add(&sum, term[place].point, term[place].minus != 0);
    return sum;
}

/// Whether x / zz is r modulo the order.
static int is_coordinate(element x, element zz, const uint64_t *r) {
    element number = {{r[3], r[2], r[1], r[0]}}, candidate = cbv_element_of(number);
    if (cbv_element_equals(cbv_element_multiply(candidate, zz), x)) return 1;
    // The coordinate, below p, may be r + n as well.
    if (r[0] != 0 || r[1] != 0) return 0;
    if (r[2] > prime_less_order[0] || (r[2] == prime_less_order[0] && r[3] >= prime_less_order[1])) return 0;
    candidate = cbv_element_add(candidate, order_element);
    return cbv_element_equals(cbv_element_multiply(candidate, zz), x);
}

/// A few signatures, each with doublings of its own.
static void verify_few(size_t count, const uint64_t *r, uint8_t *verdict, struct scratch *scratch) {
    fill_key_tables(count, scratch);
    for (size_t index = 0; index < count; index++) {
        if (verdict[index] != CBV_VALID) continue;
        const uint64_t *u1 = scratch->u1 + 4 * index, *u2 = scratch->u2 + 4 * index;
        struct cbv_jacobian sum = combine(u1, u2, scratch->multiple[index]);
        const int is_right =
            !cbv_element_is_zero(sum.z) && is_coordinate(sum.x, cbv_element_square(sum.z), r + 4 * index);
        if (!is_right) verdict[index] = CBV_REFUSED;
    }
}

void cbv_p256_verify_portable(size_t count, const uint64_t *x, const uint64_t *y, const uint64_t *points,
                              const uint64_t *digest, const uint64_t *r, const uint64_t *s, uint8_t *verdict,
                              void *memory) {
    struct scratch *scratch = memory;
    cbv_p256_scalars(count, digest, r, s, scratch->u1, scratch->u2, scratch->sound);
    judge(count, x, y, points, scratch, verdict);
    if (count < LEAST_GROUP) return verify_few(count, r, verdict, scratch);
    cbv_p256_columns(count, scratch->base, scratch->u1, scratch->u2, scratch->x, scratch->is_finite, &scratch->columns);
    for (size_t index = 0; index < count; index++) {
        const int is_right =
            scratch->is_finite[index] && is_coordinate(scratch->x[index], cbv_element_one, r + 4 * index);
        if (!is_right) verdict[index] = CBV_REFUSED;
    }
}
