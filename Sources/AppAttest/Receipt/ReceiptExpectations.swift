package import Crypto

/// The values a receipt must agree with; nil fields are not compared.
package struct ReceiptExpectations: Sendable {
    package var appIDs: [AppID]
    package var environments: Set<Environment>
    package var type: ReceiptType?
    package var publicKey: P256PublicKey?
    /// Compared in ATTEST receipts only: Apple corrupts field 4 of RECEIPT ones.
    package var clientDataHash: [UInt8]?
    /// The leaf certificate, DER, compared with field 3 byte for byte.
    package var leaf: [UInt8]?
    /// The five-minute rule for a receipt that arrives with its attestation; nil = not applied.
    package var maxAgeSeconds: Int64?

    package init(appIDs: [AppID], environments: Set<Environment>) {
        self.appIDs = appIDs
        self.environments = environments
    }
}
