import AppAttest
import AppCheck
import Broker
import Crypto
import Streams
import TestKit

/// Records that no well-meaning gateway sends, each with the outcome that it must have.
struct HostileRecord {
    var record: PublishRecord
    var expected: String

    private init(_ expected: String, key: [UInt8]?, _ value: [UInt8]?, _ headers: [RecordHeader] = []) {
        record = PublishRecord(key: key, value: value, headers: headers)
        self.expected = expected
    }

    private static let keyID = KeyID(SHA256.hash([1]))
    private static let key = keyID.recordKey
    private static let noText: [UInt8] = [0xFF, 0xC0, 0x00, 0x80]

    /// A request in order, up to its assertion, which is an empty map.
    private static let request = RequestRecords.value(
        verb: .verifyAssertion,
        object: [0xA0],
        keyID: keyID,
        clientDataHash: [UInt8](repeating: 1, count: 32)
    )

    static let all: [HostileRecord] = [
        HostileRecord("[null-value]", key: key, nil),
        HostileRecord("[null-value]", key: nil, nil),
        HostileRecord("[not-json]", key: key, noText),
        HostileRecord("[not-json]", key: key, []),
        HostileRecord("[not-json]", key: noText, Array("junk under a key that is no text".utf8), [header("x", noText)]),
        HostileRecord("[no-path]", key: key, Array("{}".utf8), [header("null", nil), header("", []), header("", [1])]),
        HostileRecord("[too-large]", key: key, Array(repeating: 0x20, count: 65_537)),
        HostileRecord("[too-large]", key: key, Array(repeating: 0xFF, count: 999_000)),
        HostileRecord("[bad-headers]", key: key, request, [header("request-id", nil)]),
        HostileRecord("[bad-headers]", key: key, request, [header("request-id", noText)]),
        HostileRecord("[bad-headers]", key: key, request, [header("x", Array(repeating: 0x20, count: 8_192))]),
        HostileRecord("malformed-assertion", key: key, request, [header("x", noText), header("null", nil)]),
        HostileRecord("malformed-assertion", key: key, request),
        HostileRecord("key-mismatch", key: nil, request),
        HostileRecord("key-mismatch", key: [], request),
        HostileRecord("key-mismatch", key: noText, request),
        HostileRecord("key-mismatch", key: KeyID(SHA256.hash([2])).recordKey, request),
        HostileRecord("key-mismatch", key: key.dropLast() + [0x20], request),
    ]

    private static func header(_ name: String, _ value: [UInt8]?) -> RecordHeader {
        RecordHeader(name: Array(name.utf8), value: value)
    }
}
