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
    func `points stay over updates of their keys' records, go with their keys, and are never mixed up`(seed: UInt64) {
        let count = 1_500
        var random = SeededRandom(seed: seed)
        var (ledger, kept) = (Self.ledger(count), Set<Int>())
        for _ in 0..<6_000 {
            let number = Int.random(in: 0..<count, using: &random)
            let (key, own) = (Self.key(number), Self.publicKey(number))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: ledger.remove(key)
            case 1: ledger.set(key, .sample(Self.publicKey(number + 1)))
            case 2: ledger.set(key, .sample())
            case 3:
                ledger.set(key, .sample(own, counter: 7))
                continue
            default:
                ledger.setSecond(Self.point(number), of: key, publicKey: own)
                kept.insert(number)
                continue
            }
            // The same key comes back: its point has to be computed again.
            ledger.set(key, .sample(own))
            kept.remove(number)
        }
        #expect(ledger.secondCount == kept.count)
        for number in 0..<count {
            let found = Self.second(in: ledger, of: number)
            #expect(found == (kept.contains(number) ? Self.point(number) : nil))
        }
    }
}
