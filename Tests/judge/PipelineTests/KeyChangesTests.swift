import AppAttest
import Crypto
import DeviceLab
import TestKit
import Testing

@testable import Pipeline

@Suite("What a batch has changed")
struct KeyChangesTests {
    private static func key(_ number: Int) -> KeyID { KeyID(SHA256.hash(Array("\(number)".utf8))) }

    @Test(arguments: [1, 31, 32, 33, 64, 65, 1000])
    func `every key has its last record, in the order of the first changes`(count: Int) {
        var changes = KeyChanges()
        for round in 0..<3 as Range<UInt32> {
            for number in 0..<count { changes.set(Self.key(number), .sample(counter: round * 10_000 + UInt32(number))) }
        }
        #expect(changes.count == count)
        #expect(changes.record(Self.key(count)) == nil)
        var seen: [(KeyID, UInt32)] = []
        changes.forEach { id, record, _ in seen.append((id, record?.counter ?? 0)) }
        #expect(seen.map(\.0) == (0..<count).map(Self.key))
        #expect(seen.map(\.1) == (0..<count).map { 20_000 + UInt32($0) })
        for number in 0..<count { #expect(changes.record(Self.key(number))??.counter == 20_000 + UInt32(number)) }
    }

    @Test func `any number of a partition has its own place`() {
        let numbers: [Int32] = [0, 1023, 7, 1024, .max, -1, .min]
        var places = PartitionPlaces()
        for (place, number) in numbers.enumerated() {
            #expect(places[number] == nil)
            places.add(number, place: place)
        }
        for (place, number) in numbers.enumerated() { #expect(places[number] == place) }
        #expect(places[8] == nil && places[1025] == nil)
    }
}
