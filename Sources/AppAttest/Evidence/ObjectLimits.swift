/// Size limits of an object and its parts, in bytes; more is malformed. Real objects have less than half.
package struct ObjectLimits: Sendable, Equatable {
    package var attestationBytes = 16_384
    package var assertionBytes = 4096
    package var certificateBytes = 4096
    package var receiptBytes = 8192
    package var clientDataHashBytes = 1024

    package static let `default` = ObjectLimits()

    package init() {}

    func allows(clientDataHash: [UInt8]) -> Bool {
        !clientDataHash.isEmpty && clientDataHash.count <= clientDataHashBytes
    }
}
