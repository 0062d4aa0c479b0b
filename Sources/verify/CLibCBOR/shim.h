#pragma once
#include <cbor.h>

// What one head says.
enum CLibCBOR_kind {
    CLibCBOR_none, CLibCBOR_unsigned, CLibCBOR_negative, CLibCBOR_bytes, CLibCBOR_text, CLibCBOR_array, CLibCBOR_map,
    CLibCBOR_simple
};

struct CLibCBOR_head {
    enum CLibCBOR_kind kind;
    uint64_t value;
};

static inline void CLibCBOR_note(void *context, enum CLibCBOR_kind kind, uint64_t value) {
    struct CLibCBOR_head *head = (struct CLibCBOR_head *)context;
    head->kind = kind;
    head->value = value;
}

// libcbor 0.8 gives its callbacks lengths as size_t, 0.10 as uint64_t. To Swift these are two types, to C they are one on
// every 64-bit Linux; elsewhere the table below does not compile.
static inline void CLibCBOR_uint8(void *head, uint8_t value) { CLibCBOR_note(head, CLibCBOR_unsigned, value); }
static inline void CLibCBOR_uint16(void *head, uint16_t value) { CLibCBOR_note(head, CLibCBOR_unsigned, value); }
static inline void CLibCBOR_uint32(void *head, uint32_t value) { CLibCBOR_note(head, CLibCBOR_unsigned, value); }
static inline void CLibCBOR_uint64(void *head, uint64_t value) { CLibCBOR_note(head, CLibCBOR_unsigned, value); }
static inline void CLibCBOR_negint8(void *head, uint8_t value) { CLibCBOR_note(head, CLibCBOR_negative, value); }
static inline void CLibCBOR_negint16(void *head, uint16_t value) { CLibCBOR_note(head, CLibCBOR_negative, value); }
static inline void CLibCBOR_negint32(void *head, uint32_t value) { CLibCBOR_note(head, CLibCBOR_negative, value); }
static inline void CLibCBOR_negint64(void *head, uint64_t value) { CLibCBOR_note(head, CLibCBOR_negative, value); }
static inline void CLibCBOR_byteString(void *head, cbor_data bytes, uint64_t count) {
    (void)bytes;
    CLibCBOR_note(head, CLibCBOR_bytes, count);
}
static inline void CLibCBOR_string(void *head, cbor_data bytes, uint64_t count) {
    (void)bytes;
    CLibCBOR_note(head, CLibCBOR_text, count);
}
static inline void CLibCBOR_arrayStart(void *head, uint64_t count) { CLibCBOR_note(head, CLibCBOR_array, count); }
static inline void CLibCBOR_mapStart(void *head, uint64_t count) { CLibCBOR_note(head, CLibCBOR_map, count); }
static inline void CLibCBOR_boolean(void *head, bool value) { CLibCBOR_note(head, CLibCBOR_simple, value ? 21 : 20); }
static inline void CLibCBOR_null(void *head) { CLibCBOR_note(head, CLibCBOR_simple, 22); }
static inline void CLibCBOR_undefined(void *head) { CLibCBOR_note(head, CLibCBOR_simple, 23); }

// One head at the beginning of `bytes`, of which at most `count` are read.
static inline struct cbor_decoder_result CLibCBOR_decode(
    const unsigned char *bytes, size_t count, struct CLibCBOR_head *head) {
    // Every member must be there; those for items that are refused before do nothing.
    static const struct cbor_callbacks callbacks = {
        .uint8 = CLibCBOR_uint8,
        .uint16 = CLibCBOR_uint16,
        .uint32 = CLibCBOR_uint32,
        .uint64 = CLibCBOR_uint64,
        .negint8 = CLibCBOR_negint8,
        .negint16 = CLibCBOR_negint16,
        .negint32 = CLibCBOR_negint32,
        .negint64 = CLibCBOR_negint64,
        .byte_string = CLibCBOR_byteString,
        .byte_string_start = cbor_null_byte_string_start_callback,
        .string = CLibCBOR_string,
        .string_start = cbor_null_string_start_callback,
        .array_start = CLibCBOR_arrayStart,
        .indef_array_start = cbor_null_indef_array_start_callback,
        .map_start = CLibCBOR_mapStart,
        .indef_map_start = cbor_null_indef_map_start_callback,
        .tag = cbor_null_tag_callback,
        .float2 = cbor_null_float2_callback,
        .float4 = cbor_null_float4_callback,
        .float8 = cbor_null_float8_callback,
        .undefined = CLibCBOR_undefined,
        .null = CLibCBOR_null,
        .boolean = CLibCBOR_boolean,
        .indef_break = cbor_null_indef_break_callback,
    };
    return cbor_stream_decode(bytes, count, &callbacks, head);
}
