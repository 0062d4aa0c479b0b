import AppAttest
import Crypto
import DeviceLab
import Pipeline
import TestKit
import Testing

@Suite("Second points of keys in use")
struct SecondPointTests {
    private static func digest(_ number: Int) -> Digest { SHA256.hash(Array("\(number)".utf8)) }
    private static func key(_ number: Int) -> KeyID { KeyID(digest(number)) }
    private static func publicKey(_ number: Int) -> P256PublicKey {
        P256PublicKey(uncheckedX: digest(-number), y: digest(number + 1_000_000))
    }
    private static func point(_ number: Int) -> P256SecondPoint {
        P256SecondPoint(x: digest(number + 2_000_000), y: digest(number + 3_000_000))
    }

    private static func ledger(_ count: Int) -> KeyLedger {
        var ledger = KeyLedger()
        for number in 0..<count { ledger.set(key(number), .sample(publicKey(number))) }
        return ledger
    }

    private static func second(in ledger: KeyLedger, of number: Int) -> P256SecondPoint? {
        guard case .key(let key, let second) = ledger.found(Self.key(number)) else { return nil }
        #expect(key == publicKey(number))
        return second
    }

    @Test func `points are kept for the keys in use, over updates of their records`() {
        var ledger = Self.ledger(5_000)
        for number in stride(from: 0, to: 5_000, by: 3) {
            ledger.setSecond(Self.point(number), of: Self.key(number), publicKey: Self.publicKey(number))
        }
        for number in 0..<5_000 { ledger.set(Self.key(number), .sample(Self.publicKey(number), counter: 7)) }
        #expect(ledger.secondCount == 1_667)
        for number in 0..<5_000 {
            let found = Self.second(in: ledger, of: number)
            #expect(found == (number % 3 == 0 ? Self.point(number) : nil))
        }
    }

    @Test func `a point goes with its key`() {
        var ledger = Self.ledger(3)
        for number in 0..<3 {
            ledger.setSecond(Self.point(number), of: Self.key(number), publicKey: Self.publicKey(number))
        }
        ledger.remove(Self.key(0))
        ledger.set(Self.key(1), .sample(Self.publicKey(9)))
        ledger.set(Self.key(2), .sample())
        #expect(ledger.secondCount == 0)
        // The same keys come back: their points have to be computed again.
        for number in 0..<3 {
            ledger.set(Self.key(number), .sample(Self.publicKey(number)))
            #expect(Self.second(in: ledger, of: number) == nil)
        }
    }

    @Test func `a point of another key, or of one that is not there, is not kept`() {
        var ledger = Self.ledger(1)
        ledger.setSecond(Self.point(0), of: Self.key(0), publicKey: Self.publicKey(1))
        ledger.setSecond(Self.point(1), of: Self.key(1), publicKey: Self.publicKey(1))
        #expect(ledger.secondCount == 0)
        ledger.setSecond(Self.point(0), of: Self.key(0), publicKey: Self.publicKey(0))
        #expect(Self.second(in: ledger, of: 0) == Self.point(0))
        #expect(ledger.found(Self.key(1)) == .unknown)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `points of many keys that come and go are never mixed up`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var (ledger, kept) = (Self.ledger(40), Set<Int>())
        for _ in 0..<600 {
            let number = Int.random(in: 0..<40, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                ledger.remove(Self.key(number))
                ledger.set(Self.key(number), .sample(Self.publicKey(number)))
                kept.remove(number)
            default:
                ledger.setSecond(Self.point(number), of: Self.key(number), publicKey: Self.publicKey(number))
                kept.insert(number)
            }
        }
        #expect(ledger.secondCount == kept.count)
        for number in 0..<40 {
            let found = Self.second(in: ledger, of: number)
            #expect(found == (kept.contains(number) ? Self.point(number) : nil))
        }
    }
}
