internal import Crypto

/// 16 hexadecimal digits that distinguish one device's events from another's without identifying the device.
package enum DeviceTag {
    private static let digits = Array("0123456789abcdef".utf8)

    /// - Parameter id: the installation id, else the key ID's text.
    package static func text(of id: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(16)
        SHA256.hash(id).withBytes { bytes in
            for index in 0..<8 {
                text.append(digits[Int(bytes[index] >> 4)])
                text.append(digits[Int(bytes[index] & 15)])
            }
        }
        return text
    }
}
