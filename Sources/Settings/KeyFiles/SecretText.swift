internal import Crypto
internal import JSON

/// The file of a sealing or challenge key: 32 random bytes as base64 text on one line.
enum SecretText {
    private static let pem = Array("-----BEGIN".utf8)

    /// Why a file is not such a key.
    enum Fault: Error, Equatable {
        case isPEM
        case noBase64
        case wrongSize(Int)

        var problem: String {
            let expected = "a symmetric key is 32 random bytes as base64 text on one line"
            return switch self {
            case .isPEM: "is PEM; \(expected)"
            case .noBase64: "is not base64; \(expected)"
            case .wrongSize(let count): "has \(count) bytes; \(expected)"
            }
        }
    }

    static func encode(_ bytes: [UInt8]) -> [UInt8] { Base64.encode(bytes) + [0x0A] }

    /// - Parameter text: may end in one line break.
    static func decode(_ text: [UInt8]) throws(Fault) -> Secret {
        guard !text.starts(with: pem) else { throw .isPEM }
        var line = text[...]
        if line.last == 0x0A { line.removeLast() }
        if line.last == 0x0D { line.removeLast() }
        guard let bytes = Base64.decode(Array(line)) else { throw .noBase64 }
        guard bytes.count == 32 else { throw .wrongSize(bytes.count) }
        return Secret(bytes)
    }
}
