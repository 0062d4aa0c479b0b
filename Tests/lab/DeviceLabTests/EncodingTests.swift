internal import AppAttest
internal import Foundation
internal import Testing

@testable internal import DeviceLab

@Suite struct EncodingTests {
    @Test(arguments: [
        ("1.2.840.113635.100.8.2", "06092a864886f763640802"),
        ("2.5.29.19", "0603551d13"),
        ("1.2.840.10045.4.3.2", "06082a8648ce3d040302"),
    ])
    func `object identifiers have the bytes that X.690 gives them`(dotted: String, hex: String) {
        #expect(Hexadecimal.encode(DER.oid(dotted)) == hex)
    }

    @Test(arguments: [
        (UInt64(0), "020100"), (1, "020101"), (127, "02017f"), (128, "02020080"), (256, "02020100"),
        (0xFFFF_FFFF, "020500ffffffff"), (.max, "020900ffffffffffffffff"),
    ])
    func `integers are minimal and never negative`(value: UInt64, hex: String) {
        #expect(Hexadecimal.encode(DER.integer(value)) == hex)
        let magnitude = [UInt8](repeating: 0, count: 3) + CBORBytes.bigEndian(value, 8)
        #expect(Hexadecimal.encode(DER.integer(magnitude)) == hex)
    }

    @Test(arguments: [(UInt32(4), "a403020101"), (30, "be03020101"), (31, "bf1f03020101"), (1400, "bf8a7803020101")])
    func `context tags take the long form from 31 up`(number: UInt32, hex: String) {
        #expect(Hexadecimal.encode(DER.explicit(number, DER.integer(1))) == hex)
    }

    @Test(arguments: [(0, "0400"), (127, "047f"), (128, "048180"), (255, "0481ff"), (256, "04820100")])
    func `lengths take their shortest form`(count: Int, head: String) {
        let element = DER.octetString([UInt8](repeating: 7, count: count))
        #expect(Hexadecimal.encode(Array(element.dropLast(count))) == head)
    }

    @Test(arguments: [
        (UInt64(0), "00"), (23, "17"), (24, "1818"), (255, "18ff"), (256, "190100"), (65_535, "19ffff"),
        (65_536, "1a00010000"), (4_294_967_296, "1b0000000100000000"),
    ])
    func `CBOR heads take their shortest form`(value: UInt64, hex: String) {
        #expect(Hexadecimal.encode(CBORBytes.unsigned(value)) == hex)
    }

    @Test func `calendar dates agree with Foundation's over two centuries`() throws {
        var random = SeededRandom(seed: 3)
        for _ in 0..<2000 {
            let milliseconds = Int64(random.next() % 6_300_000_000_000) - 2_000_000_000_000
            let time = EvaluationTime(milliseconds: milliseconds)
            let text = String(decoding: CivilTime(time).rfc3339, as: UTF8.self)
            // A quarter of a second in, so that rounding cannot matter; Foundation then leaves the fraction out.
            let second = (Double(milliseconds) / 1000).rounded(.down)
            #expect(text.prefix(19) + "Z" == Date(timeIntervalSince1970: second + 0.25).formatted(.iso8601))
            let fraction = CivilTime(time).millisecond
            #expect(fraction == Int(milliseconds - Int64(second) * 1000))
            #expect(text.dropFirst(20) == (fraction % 10 == 0 ? padded(fraction / 10, 2) : padded(fraction, 3)) + "Z")
            let civil = CivilTime(time)
            let midnight = CivilTime.midnight(civil.year, civil.month, civil.day).milliseconds
            #expect(midnight <= milliseconds && milliseconds < midnight + 86_400_000)
        }
    }

    private func padded(_ number: Int, _ count: Int) -> String {
        String(repeating: "0", count: count - String(number).count) + String(number)
    }

    @Test(arguments: [
        ((1970, 1, 1), "170d3730303130313030303030305a"), ((2049, 12, 31), "170d3439313233313030303030305a"),
        ((2050, 1, 1), "180f32303530303130313030303030305a"),
    ])
    func `certificates change to GeneralizedTime in 2050`(day: (Int, Int, Int), hex: String) {
        #expect(Hexadecimal.encode(DER.time(CivilTime.midnight(day.0, day.1, day.2))) == hex)
    }
}
