extension ObjectFault {
    /// Faults of every object's bytes.
    static func wholeRows(garbage: String) -> [Self] {
        [
            bytes("empty") { $0 = [] },
            bytes("garbage") { $0 = Array(garbage.utf8) },
            bytes("truncated") { $0.removeLast() },
            bytes("trailing-byte") { $0.append(0) },
            bytes("two-objects") { $0 += $0 },
        ]
    }
}

/// Faults of the CBOR container, which any strict reader must refuse.
extension ObjectFault where Object: CBORObject {
    static var containerRows: [Self] {
        shared(wholeRows(garbage: "this is no CBOR at all") + headRows + memberRows + sizeRows)
    }

    /// The rows that this kind of object can have.
    static func shared(_ rows: [Self]) -> [Self] {
        rows.filter { $0.subject == nil || $0.subject == Object.subject }
    }

    private static var headRows: [Self] {
        [
            bytes("indefinite-map", CBORDamage.indefinite),
            statement("indefinite-array") {
                $0.edit("x5c") {
                    $0[0] = 0x9F
                    $0.append(0xFF)
                }
            },
            topLevel("indefinite-bytes") { $0.edit(Object.authDataName) { $0 = [0x5F] + $0 + [0xFF] } },
            bytes("non-minimal-map-head") { $0.replaceSubrange(0..<1, with: [0xB8, $0[0] & 31]) },
            topLevel("non-minimal-text-head") { $0.edit("fmt", CBORDamage.lengthenHead) }.of(.attestation),
            topLevel("non-minimal-text-head") { CBORDamage.lengthenHead(&$0[0].key) }.of(.assertion),
            // The leaf's head, which follows the array's: two length bytes become four.
            statement("non-minimal-bytes-head") { $0.edit("x5c") { $0.replaceSubrange(1..<2, with: [0x5A, 0, 0]) } },
        ]
    }

    private static var memberRows: [Self] {
        [
            topLevel("duplicate-fmt") { $0.duplicate("fmt") }.of(.attestation),
            topLevel("duplicate-signature") { $0.duplicate("signature") }.of(.assertion),
            topLevel("duplicate-authdata") { $0.duplicate(Object.authDataName) },
            statement("duplicate-x5c") { $0.duplicate("x5c") },
            topLevel("duplicate-unknown-key") { $0 += [CBORDamage.unknown([0]), CBORDamage.unknown([1])] },
            bytes("tagged", CBORDamage.tag),
            topLevel("tagged-authdata") { $0.edit("authData") { $0.insert(0xC2, at: 0) } }.of(.attestation),
            bytes("top-level-array") { $0 = CBORBytes.array([$0]) },
            topLevel("fmt-not-text") { $0.set("fmt", CBORBytes.bytes(Array("apple-appattest".utf8))) }.of(.attestation),
            topLevel("attstmt-not-map") { $0.edit("attStmt", CBORDamage.wrap) }.of(.attestation),
            statement("x5c-not-array") { $0.edit("x5c") { $0 = CBORBytes.bytes($0) } },
            statement("certificate-not-bytes") {
                $0.set("x5c", CBORBytes.array([CBORBytes.text("leaf"), [0x40]]))
            },
            statement("receipt-not-bytes") { $0.set("receipt", CBORBytes.text("receipt")) }.on(\.hasReceipt),
            topLevel("signature-not-bytes") { $0.edit("signature", CBORDamage.wrap) }.of(.assertion),
            topLevel("authdata-not-bytes") { $0.edit(Object.authDataName, CBORDamage.wrap) },
            topLevel("fmt-missing") { $0.remove("fmt") }.of(.attestation),
            topLevel("attstmt-missing") { $0.remove("attStmt") }.of(.attestation),
            statement("x5c-missing") { $0.remove("x5c") },
            topLevel("signature-missing") { $0.remove("signature") }.of(.assertion),
            topLevel("authdata-missing") { $0.remove(Object.authDataName) },
        ]
    }

    private static var sizeRows: [Self] {
        [
            unknown("too-deep", [UInt8](repeating: 0x81, count: 16) + [0]),
            unknown("too-many-items", CBORBytes.array([[UInt8]](repeating: [0], count: 600))),
            unknown("oversized-object", CBORBytes.bytes(zeros(16_384))).of(.attestation),
            unknown("oversized-object", CBORBytes.bytes(zeros(4096))).of(.assertion),
            statement("oversized-certificate") {
                $0.edit("x5c") {
                    // The head of the leaf, longer than 255 bytes, follows that of the array.
                    let end = 4 + (Int($0[2]) << 8 | Int($0[3]))
                    $0.replaceSubrange(1..<end, with: CBORBytes.bytes(zeros(4097)))
                }
            },
            statement("oversized-receipt") { $0.set("receipt", CBORBytes.bytes(zeros(8193))) }.on(\.hasReceipt),
            unknown("float", [0xF9, 0x3C, 0x00]),
            unknown("invalid-utf8", [0x62, 0xC3, 0x28]),
            bytes("huge-length") { $0 = [0xA1, 0x61, 0x61, 0x5B] + [UInt8](repeating: 0xFF, count: 8) },
            // Additional information 28 means nothing.
            unknown("reserved-head", [0x1C]),
        ]
    }

    private static func topLevel(_ name: String, _ edit: @escaping @Sendable (inout [CBORPair]) -> Void) -> Self {
        Self(name, Object.malformed, .topLevel(edit))
    }

    private static func statement(_ name: String, _ edit: @escaping @Sendable (inout [CBORPair]) -> Void) -> Self {
        Self(name, Object.malformed, .statement(edit)).of(.attestation)
    }

    private static func unknown(_ name: String, _ value: [UInt8]) -> Self {
        topLevel(name) { $0.append(CBORDamage.unknown(value)) }
    }
}

func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

enum CBORDamage {
    /// The object must begin with a map of fewer than 23 entries.
    static func indefinite(_ object: inout [UInt8]) {
        object[0] = 0xBF
        object.append(0xFF)
    }

    static func tag(_ object: inout [UInt8]) { object.insert(contentsOf: [0xD9, 0xD9, 0xF7], at: 0) }

    static func wrap(_ item: inout [UInt8]) { item = CBORBytes.array([item]) }

    /// An unknown member, which by itself would be ignored.
    static func unknown(_ value: [UInt8]) -> CBORPair { CBORPair("unknown", value) }

    /// A text of fewer than 24 bytes with its length in a byte of its own.
    static func lengthenHead(_ text: inout [UInt8]) {
        text.replaceSubrange(0..<1, with: [text[0] & 0xE0 | 24, text[0] & 31])
    }
}

extension [CBORPair] {
    mutating func edit(_ name: String, _ change: (inout [UInt8]) -> Void) {
        for index in indices where self[index].isNamed(name) { change(&self[index].value) }
    }

    mutating func set(_ name: String, _ value: [UInt8]) { edit(name) { $0 = value } }
    mutating func remove(_ name: String) { removeAll { $0.isNamed(name) } }
    mutating func duplicate(_ name: String) { append(contentsOf: filter { $0.isNamed(name) }) }
}
