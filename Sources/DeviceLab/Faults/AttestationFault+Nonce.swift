internal import AppAttest
internal import Crypto

extension AttestationFault {
    /// Faults of the nonce: its extension, its shape, its value.
    static let nonceRows: [AttestationFaultRow] = [
        .draft(.nonceMissing, .nonceMissing) { $0.nonce = .absent },
        .draft(.nonceOtherTag, .nonceMalformed) {
            $0.nonce = .value(DER.sequence(DER.explicit(0, DER.octetString($0.trueNonce))))
        },
        .draft(.nonceShort, .nonceMalformed) {
            $0.nonce = .value(LeafExtensions.nonceValue(Array($0.trueNonce.dropLast())))
        },
        .draft(.nonceLong, .nonceMalformed) { $0.nonce = .value(LeafExtensions.nonceValue($0.trueNonce + [0])) },
        .draft(.nonceTrailingByte, .nonceMalformed) {
            $0.nonce = .value(LeafExtensions.nonceValue($0.trueNonce) + [0])
        },
        .draft(.nonceBare, .nonceMalformed) { $0.nonce = .value($0.trueNonce) },
        .draft(.nonceEmpty, .nonceMalformed) { $0.nonce = .value([]) },
        .draft(.nonceLongFormLength, .nonceMalformed) {
            $0.nonce = .value([0x30, 0x81, 0x24, 0xA1, 0x22, 0x04, 0x20] + $0.trueNonce)
        },
        .draft(.nonceFlipped, .nonceMismatch) {
            $0.nonce = .value(LeafExtensions.nonceValue($0.trueNonce.flippingLastBit()))
        },
        .draft(.nonceOfOtherClientData, .nonceMismatch) {
            $0.clientDataHash = SHA256.hash($0.clientDataHash).bytes
        },
        .draft(.nonceOfAuthDataOnly, .nonceMismatch) { $0.clientDataHash = [] },
        .parts(.authDataChangedAfterSigning, .nonceMismatch) { $0.authData[36] ^= 1 },
    ]
}

extension AttestationDraft {
    /// The nonce that this draft would have by itself.
    fileprivate var trueNonce: [UInt8] { SHA256.hash(authData.bytes + clientDataHash).bytes }
}
