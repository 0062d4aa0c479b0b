internal import AppAttest
internal import AppCheck
internal import Broker
internal import Crypto
internal import DeviceLab
internal import Streams
internal import TestKit

/// Records that no well-meaning gateway sends. Whether one is judged live or in a replay, its outcome is the same.
enum HostileRequest {
    private static let kinds: UInt64 = 9

    static func any(_ random: inout SeededRandom) -> PublishRecord {
        let key = KeyID(SHA256.hash(random.bytes(8)))
        let hash = [UInt8](repeating: 1, count: 32)
        let request = RequestRecords.value(verb: .verifyAssertion, object: [0xA0], keyID: key, clientDataHash: hash)
        let id = [RecordHeader("request-id", "hostile-\(random.next())")]
        let noText: [UInt8] = [0xFF, 0xC0, 0x00, 0x80]
        func named(_ value: [UInt8]?) -> RecordHeader { RecordHeader(name: Array("request-id".utf8), value: value) }
        switch random.next() % kinds {
        case 0: return PublishRecord(key: key.recordKey, value: nil, headers: id)
        case 1: return PublishRecord(key: nil, value: nil, headers: [])
        case 2: return PublishRecord(key: key.recordKey, value: random.bytes(100), headers: id)
        case 3: return PublishRecord(key: noText, value: Array("junk".utf8), headers: [])
        case 4: return PublishRecord(key: key.recordKey, value: Array(repeating: 0x20, count: 65_537), headers: id)
        case 5: return PublishRecord(key: key.recordKey, value: request, headers: [named(nil)])
        case 6: return PublishRecord(key: key.recordKey, value: request, headers: [named(noText)])
        case 7: return PublishRecord(key: nil, value: request, headers: id)
        default: return PublishRecord(key: key.recordKey, value: request, headers: id)
        }
    }
}
