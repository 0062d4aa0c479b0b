import Testing

@testable import Crypto

@Suite("Multiples of keys in use")
struct KeyPointCacheTests {
    static let pointWords = 64

    private static func digest(_ number: UInt64) -> Digest {
        let words = (0..<4).map { (number &+ $0 + 1) &* 0x9E37_79B9_7F4A_7C15 }
        return Digest(words: (words[0], words[1], words[2], words[3]))
    }

    /// No point of the curve, which a memory need not know.
    private static func key(_ number: UInt64, y: UInt64 = 0) -> P256PublicKey {
        P256PublicKey(uncheckedX: digest(number), y: digest(number &+ y &+ 1_000_000))
    }

    private static func points(_ number: UInt64) -> Numbers {
        let numbers = Numbers(count: 4 + pointWords)
        for word in stride(from: 4, to: 4 + pointWords, by: 4) { numbers[word] = digest(number &* 100 &+ UInt64(word)) }
        return numbers
    }

    private static func found(_ key: P256PublicKey, in cache: KeyPointCache) -> [UInt64]? {
        let numbers = Numbers(count: 8 + pointWords)
        return cache.copy(key, to: numbers, at: 8) ? (8..<8 + pointWords).map { numbers.word($0) } : nil
    }

    private static func words(_ number: UInt64) -> [UInt64] {
        let numbers = points(number)
        return (4..<4 + pointWords).map { numbers.word($0) }
    }

    @Test func `each key has its own, whole`() {
        let cache = KeyPointCache(byteCount: 1 << 20)
        for number in 0..<200 as Range<UInt64> { cache.insert(Self.key(number), from: Self.points(number), at: 4) }
        for number in 0..<200 as Range<UInt64> {
            #expect(Self.found(Self.key(number), in: cache) == Self.words(number))
        }
        #expect(Self.found(Self.key(200), in: cache) == nil && cache.count == 200)
        cache.insert(Self.key(7), from: Self.points(8), at: 4)
        #expect(Self.found(Self.key(7), in: cache) == Self.words(8) && cache.count == 200)
    }

    /// A point and its opposite have one x.
    @Test func `keys that differ in y alone are two keys`() {
        let cache = KeyPointCache(byteCount: 1 << 20)
        cache.insert(Self.key(1, y: 1), from: Self.points(1), at: 4)
        #expect(Self.found(Self.key(1, y: 2), in: cache) == nil)
        cache.insert(Self.key(1, y: 2), from: Self.points(2), at: 4)
        #expect(Self.found(Self.key(1, y: 1), in: cache) == Self.words(1))
        #expect(Self.found(Self.key(1, y: 2), in: cache) == Self.words(2))
    }

    @Test(arguments: [1, 2, 10, 100, 1_000])
    func `it has no more keys than its memory takes, and those of the newest uses`(sets: Int) {
        let cache = KeyPointCache(byteCount: sets * 8 * KeyPointCache.keyBytes)
        #expect(cache.capacity <= sets * 8 && cache.capacity > sets * 4)
        let favourite = Self.key(0)
        for number in 0..<UInt64(sets * 40) {
            cache.insert(Self.key(number), from: Self.points(number), at: 4)
            #expect(Self.found(Self.key(number), in: cache) == Self.words(number))
            #expect(Self.found(favourite, in: cache) == Self.words(0), "it is used again and again")
        }
        #expect(cache.count == cache.capacity)
        #expect(Self.found(Self.key(1), in: cache) == nil)
    }

    @Test func `without memory it has none`() {
        for bytes in [0, 8 * KeyPointCache.keyBytes - 1] {
            let cache = KeyPointCache(byteCount: bytes)
            cache.insert(Self.key(1), from: Self.points(1), at: 4)
            #expect(Self.found(Self.key(1), in: cache) == nil && cache.count == 0 && cache.capacity == 0)
        }
    }

    @Test func `lanes that share it read no half of another's entry`() async {
        let cache = KeyPointCache(byteCount: 8 * KeyPointCache.keyBytes)
        await withTaskGroup(of: Int.self) { group in
            for lane in 0..<4 as Range<UInt64> {
                group.addTask {
                    var torn = 0
                    for turn in 0..<2_000 as Range<UInt64> {
                        let number = (turn &* (lane + 3)) % 24
                        cache.insert(Self.key(number), from: Self.points(number), at: 4)
                        let other = (number + lane) % 24
                        if let found = Self.found(Self.key(other), in: cache), found != Self.words(other) { torn += 1 }
                    }
                    return torn
                }
            }
            for await torn in group { #expect(torn == 0) }
        }
    }
}
