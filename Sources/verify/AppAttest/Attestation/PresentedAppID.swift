internal import Crypto

/// The App ID of an attestation in clear: its leaf has it, and so has its receipt.
///
/// Verdicts rest on the hash in the authenticator data alone. A name counts here only if it has that hash, so nobody
/// can make one up.
enum PresentedAppID {
    private static let maxBytes = 255

    /// - Returns: nil where the object does not say what its hash stands for.
    static func of(_ parsed: AttestationObject, _ leaf: LeafCertificate?, _ bytes: Span<UInt8>) -> ExactText? {
        guard let hash = AuthenticatorData(parsed.authenticatorData, bytes)?.rpIDHash else { return nil }
        if let name = leaf.flatMap({ DeviceInformation($0.extensions, bytes).appID }), has(name, hash) { return name }
        guard let receipt = parsed.receipt, let payload = ReceiptPayload(ofReceipt: bytes.array(receipt)),
            let name = payload.bytes.span.text(payload.appID), has(name, hash)
        else { return nil }
        return name
    }

    private static func has(_ name: ExactText, _ hash: Digest) -> Bool {
        name.utf8.count <= maxBytes && SHA256.hash(name.utf8) == hash
    }
}
