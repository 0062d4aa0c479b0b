internal import AppAttest
internal import AppCheck
internal import BrokerKit
internal import Crypto
package import DeviceLab
internal import Foundation
internal import Kafka
internal import Streams
internal import TestKit

/// Devices that attest and assert, some of them on one hardware; their requests go to the topic.
package final class RefreshTraffic {
    /// The receipts of fresh attestations are older than a day by this, so that all three lines exchange them.
    package static let ageMilliseconds: Int64 = 25 * 3_600_000

    private let site: RefreshSite
    private let producer: Producer
    private let seed: UInt64
    /// Devices whose number leaves no remainder are one hardware.
    private let sharing: Int
    package private(set) var devices: [FakeDevice] = []
    private var sent = 0

    package init(_ site: RefreshSite, seed: UInt64 = 1, sharing: Int = 3) throws {
        (self.site, self.seed, self.sharing) = (site, seed, sharing)
        producer = try Producer(site.workplace.properties)
    }

    package func attest(_ count: Int = 1) throws {
        for _ in 0..<count {
            let number = devices.count
            var device = FakeDevice(ca: site.workplace.ca, appID: RefreshSite.appID, seed: seed << 20 + UInt64(number))
            if number % sharing == 0 { device.hardware = seed }
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
            partition: Partitioner.murmur2.partition(of: key, count: site.settings.partitions),
            key: key,
            value: RequestRecords.value(verb: verb, object: object, keyID: device.keyID, clientDataHash: hash),
            headers: [RecordHeader("request-id", "traffic-\(seed)-\(sent)")]
        )
    }

    /// Lets the producer work without waiting for it.
    package func poll() { producer.poll(timeoutMilliseconds: 0) }

    package func flush() throws { try producer.flush(timeoutMilliseconds: 60_000) }

    package func keyID(_ number: Int) -> String { String(decoding: devices[number].keyID.recordKey, as: UTF8.self) }
}
