internal import AppAttest
internal import AppCheck
internal import BrokerKit
internal import Crypto
package import DeviceLab
internal import Kafka
internal import Streams
internal import TestKit

/// Devices that attest and assert, each third one on the same hardware; their requests go to the topic.
package final class RefreshTraffic {
    /// Receipts of fresh attestations are older than a day, so that all three lines exchange them.
    private static let ageMilliseconds: Int64 = 25 * 3_600_000

    private let site: RefreshSite
    private let producer: Producer
    private let seed: UInt64
    package private(set) var devices: [FakeDevice] = []
    private var sent = 0

    package init(_ site: RefreshSite, seed: UInt64 = 1) throws {
        (self.site, self.seed) = (site, seed)
        producer = try Producer(site.workplace.properties)
    }

    package func attest(_ count: Int = 1) throws {
        for _ in 0..<count {
            let (ca, number) = (site.workplace.ca, devices.count)
            var device = FakeDevice(ca: ca, appID: ChaosKeys.appleAppID, seed: seed << 20 + UInt64(number))
            if number % 3 == 0 { device.hardware = seed }
            devices.append(device)
            let hash = SHA256.hash(Array("challenge \(seed) \(number)".utf8)).bytes
            let time = EvaluationTime(milliseconds: timeOfDay() - Self.ageMilliseconds)
            try send(device, .verifyAttestation, device.attest(clientDataHash: hash, at: time), hash)
        }
    }

    /// Each of these devices makes an assertion.
    package func assert(_ numbers: some Sequence<Int>) throws {
        for number in numbers {
            let hash = SHA256.hash(Array("data \(seed) \(sent)".utf8)).bytes
            let object = devices[number].assert(clientDataHash: hash)
            try send(devices[number], .verifyAssertion, object, hash)
        }
    }

    private func send(_ device: FakeDevice, _ verb: Verb, _ object: [UInt8], _ hash: [UInt8]) throws {
        let key = device.keyID.recordKey
        sent += 1
        try producer.produce(
            topic: site.workplace.requests,
            partition: Partitioner.murmur2.partition(of: key, count: site.workplace.partitions),
            key: key,
            value: RequestRecords.value(verb: verb, object: object, keyID: device.keyID, clientDataHash: hash),
            headers: [RecordHeader("request-id", "traffic-\(seed)-\(sent)")]
        )
    }

    package func flush() throws { try producer.flush(timeoutMilliseconds: 60_000) }

    package func keyID(_ number: Int) -> String { String(decoding: devices[number].keyID.recordKey, as: UTF8.self) }
}
