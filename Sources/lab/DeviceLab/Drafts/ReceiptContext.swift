internal import AppAttest
internal import Crypto
internal import JSON

/// The facts that a receipt is made from.
package struct ReceiptContext: Sendable {
    let device: FakeDevice
    let type: ReceiptType
    let leaf: [UInt8]
    let clientDataHash: [UInt8]
    let time: EvaluationTime

    static func name(_ environment: Environment) -> String {
        environment == .development ? "sandbox" : "production"
    }

    /// 64 bytes in base64, as Apple's are; their meaning is unknown outside Apple.
    var token: [UInt8] {
        if let hardware = device.hardware {
            return HardwareToken.text(hardware, device.keyID, at: time, secret: device.ca.secret)
        }
        let seed = device.keyID.bytes + CBORBytes.bigEndian(UInt64(bitPattern: time.milliseconds), 8)
        return Base64.encode(SHA256.hash([1] + seed).bytes + SHA256.hash([2] + seed).bytes)
    }
}
