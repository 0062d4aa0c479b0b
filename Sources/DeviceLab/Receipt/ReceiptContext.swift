internal import AppAttest
internal import Crypto
internal import JSON

/// The facts that a receipt is made from.
struct ReceiptContext: Sendable {
    static let validity: Int64 = 90 * 86_400

    let device: FakeDevice
    let type: ReceiptType
    let leaf: [UInt8]
    let clientDataHash: [UInt8]
    let time: EvaluationTime

    var environmentName: String { Self.name(device.environment) }

    static func name(_ environment: Environment) -> String {
        environment == .development ? "sandbox" : "production"
    }

    /// All fields, in the order of their type.
    var fields: [ReceiptField] {
        let shared = [
            ReceiptField(type: 2, value: Array(device.appID.utf8)),
            ReceiptField(type: 3, value: leaf),
            ReceiptField(type: 4, value: type == .attest ? clientDataHash : lossyClientDataHash),
            ReceiptField(type: 5, value: token),
        ]
        let kind = ReceiptField(type: 6, value: Array(type.rawValue.utf8))
        let place = ReceiptField(type: 7, value: Array(environmentName.utf8))
        let creation = ReceiptField(type: 12, value: Self.date(time))
        let expiry = ReceiptField(type: 21, value: Self.date(time + Self.validity))
        guard type == .receipt else { return shared + [kind, place, creation, expiry] }
        let metric = ReceiptField(type: 17, value: Array(String(1 + device.seed % 3).utf8))
        let notBefore = ReceiptField(type: 19, value: Self.date(time + 86_400))
        return [metric, kind] + shared + [place, creation, notBefore, expiry]
    }

    static func date(_ time: EvaluationTime) -> [UInt8] { CivilTime(time).rfc3339 }

    /// Apple's server pushes the hash through a UTF-8 string, which spoils it.
    private var lossyClientDataHash: [UInt8] { Array(String(decoding: clientDataHash, as: UTF8.self).utf8) }

    /// 64 bytes in base64, as Apple's are; their meaning is unknown outside Apple.
    private var token: [UInt8] {
        let seed = device.keyID.bytes + CBORBytes.bigEndian(UInt64(bitPattern: time.milliseconds), 8)
        return Base64.encode(SHA256.hash([1] + seed).bytes + SHA256.hash([2] + seed).bytes)
    }
}
