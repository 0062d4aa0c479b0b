internal import Crypto

extension FieldList {
    /// A receipt's fields as far as they can be read, Apple's numbers beside those that it does not name.
    mutating func addReceiptContent(_ receipt: [UInt8]) {
        add("receipt.size", count: receipt.count)
        guard let payload = ReceiptPayload(ofReceipt: receipt) else { return }
        let bytes = payload.bytes.span
        add("receipt.appId", text: bytes.text(payload.appID))
        add("receipt.type", text: payload.type?.rawValue)
        add("receipt.environment", text: payload.environment?.rawValue)
        add("receipt.createdAt", time: payload.createdAt)
        add("receipt.notBefore", time: payload.notBefore)
        add("receipt.expiresAt", time: payload.expiresAt)
        add("receipt.riskMetric", text: payload.riskMetric)
        add("receipt.clientHash", payload.clientHash, of: bytes)
        add("receipt.leaf.sha256", .bytes(SHA256.hash(bytes.extracting(payload.leaf)).bytes))
        let leaf = try? LeafCertificate(payload.leaf, bytes)
        add("receipt.leaf.keyId", leaf?.key.map { .base64($0.digest.bytes) })
    }

    /// The App ID that a receipt names, if it can be read.
    static func appID(ofReceipt receipt: [UInt8]) -> AppID? {
        ReceiptPayload(ofReceipt: receipt).flatMap { payload in
            let bytes = payload.bytes.span
            return bytes.text(payload.appID).map { AppID($0.shown) }
        }
    }
}
