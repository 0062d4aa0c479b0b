internal import CBOR

/// An assertion object as offset ranges into the bytes received. Unknown members are ignored, as in attestations.
struct AssertionObject: Sendable {
    let signature: Range<Int>
    let authenticatorData: Range<Int>

    init(_ bytes: Span<UInt8>, limits: ObjectLimits) throws(Refusal) {
        guard bytes.count <= limits.assertionBytes, let members = DeviceMap(bytes, in: 0..<bytes.count),
            case .bytes(let signature)? = members.value(of: "signature", bytes),
            case .bytes(let authenticatorData)? = members.value(of: "authenticatorData", bytes)
        else { throw .malformedAssertion }
        self.signature = signature
        self.authenticatorData = authenticatorData
    }
}
