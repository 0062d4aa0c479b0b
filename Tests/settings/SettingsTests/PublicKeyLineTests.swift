import AppAttest
import Crypto
import DeviceLab
import Foundation
import JSON
import Pipeline
import Settings
import TestKit
import Testing

/// KEYS as other verifiers keep them.
@Suite("Public keys of a KEYS file")
struct PublicKeyLineTests {
    private static let head: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    private static func base64(_ bytes: [UInt8]) -> String { String(decoding: Base64.encode(bytes), as: UTF8.self) }

    /// - Parameter text: publicKey as it stands in the JSON string.
    private static func line(_ id: KeyID, _ text: String) -> String {
        #"{"keyId":"\#(base64(id.bytes))","publicKey":"\#(text)","appleAppId":"ABCDE12345.b","#
            + #""environment":"production","counter":0}"#
    }

    @Test func `every usual form of a key is read as its point`() throws {
        let (key, id) = (KeySamples.device(1).publicKey, KeySamples.device(1).keyID)
        let point = key.x963
        let der = Self.head + point
        let body = Self.base64(der)
        let lines = [body.prefix(64), body.dropFirst(64)].joined(separator: #"\n"#)
        let pem = #"-----BEGIN PUBLIC KEY-----\n\#(lines)\n-----END PUBLIC KEY-----\n"#
        let compressed = [0x02 | point[64] & 1] + point[1..<33]
        for text in [point, der, compressed, Array(point.dropFirst())].map(Self.base64) + [pem] {
            let read = try KeysFile.decode(Array(Self.line(id, text).utf8))
            #expect(read.publicKeyBytes == point)
            #expect(KeyTable.record(of: read).publicKey == key)
        }
    }

    @Test func `lines whose key can never verify are counted by what is wrong, with the first one's number`() throws {
        let devices = (0..<5).map { KeySamples.device($0) }
        let (keys, ids) = (devices.map(\.publicKey), devices.map(\.keyID))
        let short = Self.base64(Array(keys[0].x963.dropLast()))
        let lines = [
            Self.line(ids[0], Self.base64(keys[0].x963)), "", Self.line(ids[1], Self.base64(keys[2].x963)),
            Self.line(ids[2], "AAAA"), Self.line(ids[3], Self.base64(Self.head + keys[0].x963)),
            Self.line(ids[4], short), Self.line(ids[0], short),
        ]
        let directory = try ConfigurationDirectory()
        try directory.write("KEYS", lines.joined(separator: "\n"))
        let (ledger, unusable) = try KeyTable.read(directory.path + "/KEYS")
        #expect(ids.allSatisfy { ledger.keys[$0] != nil })
        let warnings = unusable.warnings(of: "KEYS")
        // The first line is usable.
        #expect(warnings.count == 2)
        #expect(ledger.keys[ids[0]]?.publicKey == keys[0], "a later line takes no point away")
        #expect(warnings[0].hasPrefix("KEYS: 2 lines, the first of them line 4: publicKey is not a key on P-256"))
        #expect(warnings[1].hasPrefix("KEYS: 2 lines, the first of them line 3: publicKey belongs to another keyId"))
        #expect(warnings.allSatisfy { $0.hasSuffix("the key is kept, and its assertions are key-invalid") })
    }
}
