#include "p256_points.h"

#include "modular_inverse.h"

typedef struct cbv_element element;

static const element generator_x = {{0x79e730d418a9143c, 0x75ba95fc5fedb601, 0x79fb732b77622510, 0x18905f76a53755c6}};
static const element generator_y = {{0xddf25357ce95560a, 0x8b4ab8e4ba19e45c, 0xd2e88688dd21f325, 0x8571ff1825885d85}};
static const element curve_b = {{0xd89cdf6229c4bddf, 0xacf005cd78843090, 0xe5a220abf7212ed6, 0xdc30061d04874834}};

/// 2^768 modulo p.
static const element radix_cubed = {{0xfffffffd0000000a, 0xffffffedfffffff7, 0x00000005fffffffc, 0x0000001800000001}};

static const struct cbv_modulus prime_modulus = {
    {0x3fffffffffffffff, 0x00000003ffffffff, 0, 0x3fffffc000000040, 0xff},
    0x3fffffffffffffff,
};

CBV_INLINE element twice(element a) {
    return cbv_element_add(a, a);
}

struct cbv_affine cbv_p256_generator(void) {
    return (struct cbv_affine){generator_x, generator_y};
}

int cbv_affine_is_on_curve(const struct cbv_affine *point) {
    element x = point->x, thrice = cbv_element_add(twice(x), x);
    element right = cbv_element_multiply(cbv_element_square(x), x);
    right = cbv_element_add(cbv_element_subtract(right, thrice), curve_b);
    return cbv_element_equals(cbv_element_square(point->y), right);
}

/// Reads a number, words with the most significant first. 0 where it is not below p.
CBV_INLINE int read_element(const uint64_t *words, element *read) {
    uint64_t borrow = 0;
    element number;
    for (int word = 0; word < 4; word++) number.word[word] = words[3 - word];
    for (int word = 0; word < 4; word++) cbv_subtract(number.word[word], cbv_p256_prime[word], &borrow);
    *read = cbv_element_of(number);
    return (int)borrow;
}

int cbv_affine_read(const uint64_t *x, const uint64_t *y, struct cbv_affine *point) {
    return read_element(x, &point->x) & read_element(y, &point->y) && cbv_affine_is_on_curve(point);
}

int cbv_p256_is_on_curve(const uint64_t *x, const uint64_t *y) {
    struct cbv_affine point;
    return cbv_affine_read(x, y, &point);
}

struct cbv_affine cbv_affine_load(const uint64_t *xy) {
    return (struct cbv_affine){{{xy[3], xy[2], xy[1], xy[0]}}, {{xy[7], xy[6], xy[5], xy[4]}}};
}

void cbv_affine_store(struct cbv_affine point, uint64_t *xy) {
    for (int word = 0; word < 4; word++) {
        xy[word] = point.x.word[3 - word];
        xy[word + 4] = point.y.word[3 - word];
    }
}

CBV_TWICE void cbv_jacobian_double(struct cbv_jacobian *point) {
    element x = point->x, y = point->y, z = point->z;
    element zz = cbv_element_square(z);
    element slope = cbv_element_multiply(cbv_element_add(x, zz), cbv_element_subtract(x, zz));
    slope = cbv_element_add(twice(slope), slope);
    element yy = cbv_element_square(twice(y));
    element xyy = cbv_element_multiply(x, yy);
    point->z = cbv_element_multiply(twice(y), z);
    x = cbv_element_subtract(cbv_element_square(slope), twice(xyy));
    // 8 y^4 is half the square of 4 y^2.
    element fourth = cbv_element_half(cbv_element_square(yy));
    point->y = cbv_element_subtract(cbv_element_multiply(slope, cbv_element_subtract(xyy, x)), fourth);
    point->x = x;
}

CBV_TWICE void cbv_jacobian_add(struct cbv_jacobian *sum, const struct cbv_affine *point, int negative) {
    element other_y = negative ? cbv_element_negate(point->y) : point->y;
    if (cbv_element_is_zero(sum->z)) {
        *sum = (struct cbv_jacobian){point->x, other_y, cbv_element_one};
        return;
    }
    element zz = cbv_element_square(sum->z);
    element width = cbv_element_subtract(cbv_element_multiply(point->x, zz), sum->x);
    element zzz = cbv_element_multiply(zz, sum->z);
    element height = cbv_element_subtract(cbv_element_multiply(other_y, zzz), sum->y);
    if (cbv_element_is_zero(width)) {
        // The points are equal, or opposite.
        if (cbv_element_is_zero(height)) {
            cbv_jacobian_double(sum);
        } else {
            sum->z = (element){{0}};
        }
        return;
    }
    element ww = cbv_element_square(width), www = cbv_element_multiply(ww, width);
    element xww = cbv_element_multiply(sum->x, ww);
    element x = cbv_element_subtract(cbv_element_square(height), www);
    x = cbv_element_subtract(x, twice(xww));
    element rise = cbv_element_multiply(height, cbv_element_subtract(xww, x));
    sum->y = cbv_element_subtract(rise, cbv_element_multiply(sum->y, www));
    sum->x = x;
    sum->z = cbv_element_multiply(sum->z, width);
}

CBV_TWICE void cbv_element_invert(element *value, element *through, size_t count) {
    element inverse[CBV_CHAINS];
    const element *last = through + count;
    for (int chain = 0; chain < CBV_CHAINS; chain++) through[chain] = cbv_element_one;
    for (size_t index = 0; index < count; index++) {
        through[index + CBV_CHAINS] = cbv_element_multiply(through[index], value[index]);
    }
    element low = cbv_element_multiply(last[0], last[1]), high = cbv_element_multiply(last[2], last[3]);
    element all = cbv_element_multiply(low, high);
    cbv_modular_inverse(&prime_modulus, all.word, all.word);
    // The inverse of a 2^256 is that of a over 2^256; an element wants it times 2^256.
    all = cbv_element_multiply(all, radix_cubed);
    // The inverses of the first two chains' products, and of the others'.
    high = cbv_element_multiply(all, high), low = cbv_element_multiply(all, low);
    for (size_t chain = 0; chain < CBV_CHAINS; chain++) {
        inverse[(count + chain) % CBV_CHAINS] = cbv_element_multiply(chain < 2 ? high : low, last[chain ^ 1]);
    }
    for (size_t index = count; index-- > 0;) {
        element own = cbv_element_multiply(inverse[index % CBV_CHAINS], through[index]);
        inverse[index % CBV_CHAINS] = cbv_element_multiply(inverse[index % CBV_CHAINS], value[index]);
        value[index] = own;
    }
}

void cbv_jacobian_normalise(const struct cbv_jacobian *point, size_t count, struct cbv_affine *affine,
                            struct cbv_inverses *inverses) {
    for (size_t index = 0; index < count; index++) inverses->value[index] = point[index].z;
    cbv_element_invert(inverses->value, inverses->through, count);
    for (size_t index = 0; index < count; index++) {
        element inverse = inverses->value[index], square = cbv_element_square(inverse);
        affine[index].x = cbv_element_multiply(point[index].x, square);
        affine[index].y = cbv_element_multiply(point[index].y, cbv_element_multiply(square, inverse));
    }
}

CBV_TWICE void cbv_affine_add(const struct cbv_affine *a, size_t stride, const struct cbv_affine *b, size_t count,
                              struct cbv_affine *sum, struct cbv_inverses *inverses) {
    for (size_t index = 0; index < count; index++) {
        inverses->value[index] = cbv_element_subtract(b[index].x, a[stride * index].x);
    }
    cbv_element_invert(inverses->value, inverses->through, count);
    for (size_t index = 0; index < count; index++) {
        const struct cbv_affine *first = &a[stride * index];
        element height = cbv_element_subtract(b[index].y, first->y);
        sum[stride * index] = cbv_affine_follow(first, b[index].x, cbv_element_multiply(height, inverses->value[index]));
    }
}

CBV_TWICE void cbv_affine_double(const struct cbv_affine *point, size_t count, struct cbv_affine *doubled,
                                 struct cbv_inverses *inverses) {
    for (size_t index = 0; index < count; index++) inverses->value[index] = twice(point[index].y);
    cbv_element_invert(inverses->value, inverses->through, count);
    for (size_t index = 0; index < count; index++) {
        const struct cbv_affine *own = &point[index];
        // The slope is 3 (x^2 - 1) / 2 y.
        element rise = cbv_element_subtract(cbv_element_square(own->x), cbv_element_one);
        rise = cbv_element_add(twice(rise), rise);
        doubled[index] = cbv_affine_follow(own, own->x, cbv_element_multiply(rise, inverses->value[index]));
    }
}
