/// A change of any bytes inside a right object, with everything above them signed again: for fuzzers, as named faults
/// are for tests.
package enum Alteration: Sendable {
    package typealias Edit = @Sendable ([UInt8]) -> [UInt8]

    /// The signed part of the leaf certificate, DER.
    case leafBody(Edit)
    /// The part after the fixed one of the authenticator data: the extension map, CBOR, or nothing.
    case extensionMap(Edit)
    /// The receipt's content, DER.
    case receiptPayload(Edit)
    /// The whole receipt; nothing is signed again.
    case receipt(Edit)
    /// The receipt's certificates in their order, DER: signer, intermediate, root.
    case receiptCertificates(@Sendable ([[UInt8]]) -> [[UInt8]])
    /// The certificates of x5c, leaf first; nothing is signed again.
    case chain(@Sendable ([[UInt8]]) -> [[UInt8]])
}
