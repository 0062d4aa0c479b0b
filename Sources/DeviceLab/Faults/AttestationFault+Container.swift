internal import AppAttest

extension AttestationFault {
    /// Faults of the CBOR container and of the format's name.
    static let containerRows: [AttestationFaultRow] = bytesRows + topLevelRows + statementRows + formatRows

    private static let bytesRows: [AttestationFaultRow] = [
        bytes(.empty) { $0 = [] },
        bytes(.garbage) { $0 = Array("this is no CBOR at all".utf8) },
        bytes(.truncated) { $0.removeLast() },
        bytes(.trailingByte, CBORDamage.trailingByte),
        bytes(.twoObjects) { $0 += $0 },
        bytes(.indefiniteMap, CBORDamage.indefinite),
        bytes(.nonMinimalMapHead, CBORDamage.nonMinimalHead),
        bytes(.tagged, CBORDamage.tag),
        bytes(.topLevelArray) { $0 = CBORBytes.array([$0]) },
        bytes(.hugeLength, CBORDamage.hugeLength),
    ]

    private static let topLevelRows: [AttestationFaultRow] = [
        topLevel(.indefiniteBytes) { $0.edit("authData") { $0 = CBORDamage.inChunks($0) } },
        topLevel(.nonMinimalTextHead) { $0.edit("fmt") { $0 = CBORDamage.longHead($0) } },
        topLevel(.duplicateFormat) { $0.duplicate("fmt") },
        topLevel(.duplicateAuthData) { $0.duplicate("authData") },
        topLevel(.duplicateUnknownKey) { $0 += [CBORDamage.unknown([0]), CBORDamage.unknown([1])] },
        topLevel(.taggedAuthData) { $0.edit("authData") { $0.insert(0xC2, at: 0) } },
        topLevel(.formatNotText) { $0.set("fmt", CBORBytes.bytes(Array("apple-appattest".utf8))) },
        topLevel(.statementNotMap) { $0.edit("attStmt") { $0 = CBORBytes.array([$0]) } },
        topLevel(.authDataNotBytes) { $0.edit("authData") { $0 = CBORBytes.array([$0]) } },
        topLevel(.formatMissing) { $0.remove("fmt") },
        topLevel(.statementMissing) { $0.remove("attStmt") },
        topLevel(.authDataMissing) { $0.remove("authData") },
        topLevel(.tooDeep) { $0.append(CBORDamage.unknown(CBORDamage.deep)) },
        topLevel(.tooManyItems) { $0.append(CBORDamage.unknown(CBORDamage.manyItems)) },
        topLevel(.oversizedObject) { $0.append(CBORDamage.unknown(CBORBytes.bytes(zeros(16_384)))) },
        topLevel(.float) { $0.append(CBORDamage.unknown(CBORDamage.float)) },
        topLevel(.invalidUTF8) { $0.append(CBORDamage.unknown(CBORDamage.invalidUTF8)) },
        topLevel(.reservedHead) { $0.append(CBORDamage.unknown(CBORDamage.reservedHead)) },
    ]

    private static let statementRows: [AttestationFaultRow] = [
        statement(.indefiniteArray) {
            $0.edit("x5c") {
                $0[0] = 0x9F
                $0.append(0xFF)
            }
        },
        statement(.nonMinimalBytesHead) {
            // The leaf's head, which follows the array's: two length bytes become four.
            $0.edit("x5c") { $0.replaceSubrange(1..<2, with: [0x5A, 0, 0]) }
        },
        statement(.duplicateX5c) { $0.duplicate("x5c") },
        statement(.x5cNotArray) { $0.edit("x5c") { $0 = CBORBytes.bytes($0) } },
        statement(.certificateNotBytes) { $0.edit("x5c") { $0 = CBORBytes.array([CBORBytes.text("leaf"), [0x40]]) } },
        statement(.receiptNotBytes) { $0.set("receipt", CBORBytes.text("receipt")) },
        statement(.x5cMissing) { $0.remove("x5c") },
        statement(.oversizedReceipt) { $0.set("receipt", CBORBytes.bytes(zeros(8193))) },
        .parts(.oversizedCertificate, .malformedAttestation) { $0.certificates[0] = zeros(4097) },
    ]

    private static let formatRows: [AttestationFaultRow] = [
        .parts(.otherFormat, .badFormat) { $0.format = "apple" },
        .parts(.packedFormat, .badFormat) { $0.format = "packed" },
        .parts(.formatCase, .badFormat) { $0.format = "Apple-AppAttest" },
        .parts(.formatSuffix, .badFormat) { $0.format = "apple-appattest\0" },
        .parts(.emptyFormat, .badFormat) { $0.format = "" },
    ]

    static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    private static func bytes(
        _ fault: AttestationFault,
        _ edit: @escaping @Sendable (inout [UInt8]) -> Void
    ) -> AttestationFaultRow { AttestationFaultRow(fault, .malformedAttestation, .bytes(edit)) }

    private static func topLevel(
        _ fault: AttestationFault,
        _ edit: @escaping @Sendable (inout [CBORPair]) -> Void
    ) -> AttestationFaultRow { AttestationFaultRow(fault, .malformedAttestation, .topLevel(edit)) }

    private static func statement(
        _ fault: AttestationFault,
        _ edit: @escaping @Sendable (inout [CBORPair]) -> Void
    ) -> AttestationFaultRow { AttestationFaultRow(fault, .malformedAttestation, .statement(edit)) }
}
