internal import AppAttest

extension AssertionFault {
    static let containerRows: [AssertionFaultRow] = [
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
        topLevel(.indefiniteBytes) { $0.edit("authenticatorData") { $0 = CBORDamage.inChunks($0) } },
        topLevel(.nonMinimalTextHead) { $0[0].key = CBORDamage.longHead($0[0].key) },
        topLevel(.duplicateSignature) { $0.duplicate("signature") },
        topLevel(.duplicateAuthData) { $0.duplicate("authenticatorData") },
        topLevel(.duplicateUnknownKey) { $0 += [CBORDamage.unknown([0]), CBORDamage.unknown([1])] },
        topLevel(.signatureNotBytes) { $0.edit("signature") { $0 = CBORBytes.array([$0]) } },
        topLevel(.authDataNotBytes) { $0.edit("authenticatorData") { $0 = CBORBytes.array([$0]) } },
        topLevel(.signatureMissing) { $0.remove("signature") },
        topLevel(.authDataMissing) { $0.remove("authenticatorData") },
        topLevel(.tooDeep) { $0.append(CBORDamage.unknown(CBORDamage.deep)) },
        topLevel(.tooManyItems) { $0.append(CBORDamage.unknown(CBORDamage.manyItems)) },
        topLevel(.oversizedObject) {
            $0.append(CBORDamage.unknown(CBORBytes.bytes([UInt8](repeating: 0, count: 4096))))
        },
        topLevel(.float) { $0.append(CBORDamage.unknown(CBORDamage.float)) },
        topLevel(.invalidUTF8) { $0.append(CBORDamage.unknown(CBORDamage.invalidUTF8)) },
        topLevel(.reservedHead) { $0.append(CBORDamage.unknown(CBORDamage.reservedHead)) },
        AssertionFaultRow(.authDataEmpty, .malformedAssertion, .draft { $0.authData.keep(0) }),
        AssertionFaultRow(.authDataShort, .malformedAssertion, .draft { $0.authData.keep(36) }),
    ]

    private static func bytes(
        _ fault: AssertionFault,
        _ edit: @escaping @Sendable (inout [UInt8]) -> Void
    ) -> AssertionFaultRow { AssertionFaultRow(fault, .malformedAssertion, .bytes(edit)) }

    private static func topLevel(
        _ fault: AssertionFault,
        _ edit: @escaping @Sendable (inout [CBORPair]) -> Void
    ) -> AssertionFaultRow { AssertionFaultRow(fault, .malformedAssertion, .topLevel(edit)) }
}
