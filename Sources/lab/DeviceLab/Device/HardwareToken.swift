internal import AppAttest
internal import Crypto
internal import JSON

/// Field 5 of a receipt whose device names its hardware: 64 bytes in base64, as Apple's are. Nobody but the lab's Apple
/// tells from it which receipts are of one piece of hardware.
enum HardwareToken {
    private static let (saltBytes, numberBytes) = (24, 8)

    /// - Parameter time: of the attestation: each has a token of its own.
    static func text(_ hardware: UInt64, _ key: KeyID, at time: EvaluationTime, secret: [UInt8]) -> [UInt8] {
        let time = CBORBytes.bigEndian(UInt64(bitPattern: time.milliseconds), 8)
        let salt = Array(hash("salt", secret, key.bytes + time).prefix(saltBytes))
        let sealed = salt + masked(CBORBytes.bigEndian(hardware, numberBytes), salt, secret)
        return Base64.encode(sealed + hash("check", secret, sealed))
    }

    /// - Returns: nil for a token that names none.
    static func hardware(_ text: [UInt8], secret: [UInt8]) -> UInt64? {
        let sealedBytes = saltBytes + numberBytes
        guard let bytes = Base64.decode(text), bytes.count == sealedBytes + Digest.byteCount else { return nil }
        let (salt, sealed) = (Array(bytes[..<saltBytes]), Array(bytes[..<sealedBytes]))
        guard hash("check", secret, sealed).elementsEqual(bytes[sealedBytes...]) else { return nil }
        return masked(Array(sealed[saltBytes...]), salt, secret).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func masked(_ number: [UInt8], _ salt: [UInt8], _ secret: [UInt8]) -> [UInt8] {
        zip(number, hash("mask", secret, salt)).map { $0 ^ $1 }
    }

    private static func hash(_ use: String, _ secret: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        SHA256.hash(Array("hardware \(use)".utf8) + secret + bytes).bytes
    }
}
