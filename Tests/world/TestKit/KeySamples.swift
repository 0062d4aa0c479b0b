internal import AppAttest
internal import Crypto
package import DeviceLab
internal import Pipeline
package import Settings

/// Keys as KEYS files have them, of fake devices.
package enum KeySamples {
    package static let appleAppID = "ABCDE12345.com.example.app"
    package static let app = "projects/123456789012/apps/1:123456789012:ios:0123456789abcdef"

    package static func device(_ number: UInt64) -> FakeDevice {
        FakeDevice(ca: LabCA(seed: 31), appID: appleAppID, seed: number)
    }

    package static func key(_ number: UInt64, counter: UInt32 = 0) -> ImportedKey {
        let device = device(number)
        return ImportedKey(
            keyID: device.keyID,
            publicKeyBytes: device.publicKey.x963,
            appleAppID: appleAppID,
            environment: .production,
            counter: counter
        )
    }

    package static func request(
        _ id: String,
        issuedAt: Int64? = nil,
        expiresAt: Int64? = nil
    ) -> ImportedKey.LastRequest {
        ImportedKey.LastRequest(
            id: id,
            valueSHA256: SHA256.hash(Array(id.utf8)),
            verdict: "accepted",
            issuedAt: issuedAt,
            expiresAt: expiresAt
        )
    }

    /// One of every kind that a line can be of.
    package static var variety: [ImportedKey] {
        var keys = (1...8).map { key($0, counter: UInt32($0) * 1000) }
        keys[0].counter = .max
        keys[1].app = app
        keys[2].environment = .development
        keys[3].nonce = SHA256.hash([3])
        keys[3].issued = IssueTime(
            notBefore: EvaluationTime(milliseconds: 1_790_000_000_000),
            serial: 1_790_086_400_123
        )
        keys[4].lastRequest = request("request\n\"4\"")
        keys[5].lastRequest = request("5", issuedAt: 1_790_000_000, expiresAt: 1_790_003_600)
        keys[5].risk = RiskMetric(.max, createdAt: 1_790_000_000)
        keys[6].publicKeyBytes = [4, 1, 2, 3]
        keys[7].publicKeyBytes = key(1).publicKeyBytes
        return keys
    }

    /// A KEYS file in the order of the keys given.
    package static func file(_ keys: [ImportedKey]) -> String {
        var bytes: [UInt8] = []
        for key in keys { KeysFile.encode(key, into: &bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A KEYS file in the order in which `export-keys` writes.
    package static func sortedFile(_ keys: [ImportedKey]) -> String {
        file(keys.sorted { $0.keyID.bytes.lexicographicallyPrecedes($1.keyID.bytes) })
    }
}
