import AppAttest
import AppCheck
import DeviceLab
import JSON
import SimulationKit
import Streams
import TestKit
import Testing

@testable import Pipeline

/// Months of devices that come, are away, come back and are gone: the state is that of the devices in use.
@Suite("Devices that come and go")
struct KeyChurnTests {
    private static let day: Int64 = 86_400_000
    private static let life: Int64 = 30

    private struct Phone {
        var device: FakeDevice
        let artifact: [UInt8]
        var used: Int64
        /// The day of the next use; nil = it is gone for good.
        var next: Int64?

        /// Mostly within a week, sometimes after the key has ended, and once for the last time.
        mutating func use(on day: Int64, _ random: inout SeededRandom) {
            used = day
            let away =
                Int.random(in: 0..<15, using: &random) == 0
                ? life + 2 + Int64(Int.random(in: 0..<9, using: &random))
                : 1 + Int64(Int.random(in: 0..<6, using: &random))
            next = Int.random(in: 0..<8, using: &random) == 0 ? nil : day + away
        }
    }

    private struct Month {
        let rig: ExchangeRig
        var random: SeededRandom
        var phones: [Phone] = []
        var mostKeys = 0
        var mostSlots = 0
        var mostRecords = 0
        var restored = 0

        mutating func live(_ day: Int64) throws {
            rig.time += KeyChurnTests.day
            for _ in 0..<2 { try buy(on: day) }
            for index in phones.indices where phones[index].next == day { try use(index, on: day) }
            let ledger = try #require(rig.loop.ledgers[0])
            mostKeys = max(mostKeys, phones.count { $0.used >= day - life })
            mostSlots = max(mostSlots, Int(ledger.keys.table.end))
            mostRecords = max(mostRecords, rig.streams.compacted.count { $0.key.first == 1 && $0.value != nil })
        }

        private mutating func buy(on day: Int64) throws {
            let device = FakeDevice(ExchangeKit.model, seed: 1_000 + UInt64(phones.count))
            let answers = try rig.send(rig.attestation(of: device, at: rig.time - 1000))
            var phone = Phone(device: device, artifact: try #require(answers.artifact), used: day)
            phone.use(on: day, &random)
            phones.append(phone)
        }

        private mutating func use(_ index: Int, on day: Int64) throws {
            let (away, seed) = (day - phones[index].used, UInt8(truncatingIfNeeded: day))
            if Int.random(in: 0..<50, using: &random) == 0 {
                _ = try rig.send(rig.command(.ban, phones[index].device, seed: seed))
                #expect(try rig.refresh(&phones[index].device, phones[index].artifact).summary == "banned")
                _ = try rig.send(rig.command(.unban, phones[index].device, seed: ~seed))
            }
            let answers = try rig.refresh(&phones[index].device, phones[index].artifact)
            let isRestored = answers.result?["evidence"]?["restored"]?.bool == true
            #expect(answers.verdict == "accepted" && isRestored == (away > life), "away for \(away) days")
            if isRestored { restored += 1 }
            phones[index].use(on: day, &random)
        }
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `memory and topic stay those of the devices in use, and none of them loses its key`(seed: UInt64) throws {
        var settings = try ExchangeKit.settings { $0.unknownKeys = .restore }
        settings.keys.expireAfterMilliseconds = Self.life * Self.day
        var months = Month(rig: try ExchangeRig(settings, seed: seed), random: SeededRandom(seed: seed))
        for day in 0..<(2 * Self.life) { try months.live(day) }
        let (slots, records) = (months.mostSlots, months.mostRecords)
        for day in (2 * Self.life)..<(5 * Self.life) { try months.live(day) }
        #expect(months.restored > 15 && months.phones.count == Int(10 * Self.life))
        #expect(months.mostSlots <= months.mostKeys + 4 && months.mostRecords <= months.mostKeys + 4)
        #expect(
            10 * months.mostSlots < 16 * slots && 10 * months.mostRecords < 16 * records,
            "no growth after two months"
        )
        #expect(2 * months.mostSlots < months.phones.count)
    }
}
