import Testing

@testable import Crypto

/// Arithmetic modulo the order of P-256, slow and plain; words stand the least significant first.
private struct Scalar: Equatable {
    static let order: [UInt64] = [0xF3B9_CAC2_FC63_2551, 0xBCE6_FAAD_A717_9E84, .max, 0xFFFF_FFFF_0000_0000]

    var words: [UInt64]

    init(_ words: [UInt64]) { self.words = Self.reduced(words, carry: false) }
    init(_ small: UInt64) { words = [small, 0, 0, 0] }

    init(_ digest: Digest) {
        let words = digest.words
        self.init([words.3, words.2, words.1, words.0])
    }

    /// The sum of the powers of two that are set.
    init(bits: [Bool]) {
        var words: [UInt64] = [0, 0, 0, 0]
        for (bit, isSet) in bits.enumerated() where isSet { words[bit / 64] |= 1 << UInt64(bit % 64) }
        self.init(words)
    }

    var digest: Digest { Digest(words: (words[3], words[2], words[1], words[0])) }
    var isZero: Bool { words.allSatisfy { $0 == 0 } }
    var negative: Scalar { isZero ? self : Scalar(Self.difference(Self.order, words).words) }

    private static func difference(_ a: [UInt64], _ b: [UInt64]) -> (words: [UInt64], borrows: Bool) {
        var (words, borrow) = ([UInt64](), false)
        for (a, b) in zip(a, b) {
            let (first, one) = a.subtractingReportingOverflow(b)
            let (second, two) = first.subtractingReportingOverflow(borrow ? 1 : 0)
            words.append(second)
            borrow = one || two
        }
        return (words, borrow)
    }

    private static func reduced(_ words: [UInt64], carry: Bool) -> [UInt64] {
        let less = difference(words, order)
        return carry || !less.borrows ? less.words : words
    }

    static func + (a: Scalar, b: Scalar) -> Scalar {
        var (words, carry) = ([UInt64](), false)
        for (a, b) in zip(a.words, b.words) {
            let (first, one) = a.addingReportingOverflow(b)
            let (second, two) = first.addingReportingOverflow(carry ? 1 : 0)
            words.append(second)
            carry = one || two
        }
        var sum = Scalar(0)
        sum.words = reduced(words, carry: carry)
        return sum
    }

    static func * (a: Scalar, b: Scalar) -> Scalar {
        var product = Scalar(0)
        for bit in (0..<256).reversed() {
            product = product + product
            if b.words[bit / 64] >> UInt64(bit % 64) & 1 == 1 { product = product + a }
        }
        return product
    }

    /// By Fermat; all of them with one power.
    static func inverses(_ scalars: [Scalar]) -> [Scalar] {
        var products = [Scalar(1)]
        for scalar in scalars { products.append(products[products.count - 1] * scalar) }
        var (rest, power) = (Scalar(1), products[products.count - 1])
        var exponent = order
        exponent[0] -= 2
        for bit in 0..<256 {
            if exponent[bit / 64] >> UInt64(bit % 64) & 1 == 1 { rest = rest * power }
            power = power * power
        }
        var inverses: [Scalar] = []
        for (index, scalar) in scalars.enumerated().reversed() {
            inverses.append(rest * products[index])
            rest = rest * scalar
        }
        return inverses.reversed()
    }
}

/// Signatures that are valid for u1 and u2 of our choice, so that sums meet equal and opposite points on their way.
private struct ChosenSignatures {
    private let lab = LabBatch()
    private var chosen: [(d: Scalar, u1: Scalar, u2: Scalar)] = []

    mutating func add(_ d: Scalar, _ u1: Scalar, _ u2: Scalar) { chosen.append((d, u1, u2)) }

    /// Where u1 G + u2 Q is the point at infinity, r is the x-coordinate of u2 Q.
    func checks() throws -> [SignatureCheck] {
        let sums = chosen.map { $0.u1 + $0.u2 * $0.d }
        let keys = points(chosen.map(\.d)), results = points(zip(sums, chosen).map { $0.isZero ? $1.u2 * $1.d : $0 })
        let inverses = Scalar.inverses(chosen.map(\.u2))
        return try chosen.indices.map { index in
            let key = try #require(P256PublicKey(x963: keys[index]))
            let r = Scalar(try #require(Digest(Array(results[index][1...32]))))
            // s = r / u2, and the digest is u1 s.
            let s = r * inverses[index]
            let digest = chosen[index].u1 * s
            return .p256(key: key, digest: digest.digest, signature: P256Signature(r: r.digest, s: s.digest))
        }
    }

    private func points(_ scalars: [Scalar]) -> [[UInt8]] {
        stride(from: 0, to: scalars.count, by: 64).flatMap { start in
            lab.points(.p256, scalars: scalars[start..<min(start + 64, scalars.count)].map(\.digest.bytes))
        }
    }
}

/// Scalars that no honest signer meets, and that a sender may choose.
struct ChosenScalarTests {
    private static let few = [1, 2, 3].map { Scalar(UInt64($0)) }

    private static func random(_ number: Int) -> Scalar {
        Scalar(SHA256.hash([UInt8(number & 0xFF), UInt8(number >> 8)]))
    }

    /// Columns of digits: a first, then so many that are its opposite, then itself, then any.
    private static func columns(_ step: Int, isOpposite: Bool, _ seed: Int) -> Scalar {
        var source = SHA256.hash([1, UInt8(seed & 0xFF), UInt8(seed >> 8)]).bytes
        func sign() -> Bool { source.removeLast() & 1 == 1 }
        let top = (0..<7).map { _ in sign() } + [true]
        // Bit 0 is set: the scalar is odd.
        var bits = [Bool](repeating: true, count: 257)
        for column in 0..<32 {
            let isFollowed = column > step
            let isLast = column == step
            for base in 0..<8 {
                let own =
                    isFollowed
                    ? top[base] == (column == 31) : isLast ? top[base] != isOpposite : (seed >> base + column) & 1 == 1
                bits[32 * base + column + 1] = own
            }
        }
        return Scalar(bits: Array(bits.prefix(256)))
    }

    private static func hostile() -> [Scalar] {
        let words: [UInt64] = [
            1, 2, 0x8000_0000, 0x7FFF_FFFF, 0xAAAA_AAAA, 0x5555_5555, 0xFFFF_FFFE, 0x0000_FFFF, 0x0101_0101,
        ]
        let repeated = words.map { word in Scalar(Array(repeating: word << 32 | word, count: 4)) }
        let single = stride(from: 0, to: 256, by: 17).map { bit in
            var words: [UInt64] = [0, 0, 0, 0]
            words[bit / 64] = 1 << UInt64(bit % 64)
            return Scalar(words)
        }
        let half = Scalar(
            Scalar.order.indices.map { Scalar.order[$0] >> 1 | ($0 < 3 ? Scalar.order[$0 + 1] << 63 : 0) }
        )
        return few + repeated + single + [wrapped, half, half + Scalar(1), half + Scalar(2)]
    }

    /// - Parameter leavesNone: to OpenSSL, as a sender who can choose what is left open makes refusals dear.
    private static func judge(
        _ signatures: ChosenSignatures,
        _ arithmetic: BatchArithmetic,
        leavesNone: Bool = true
    ) throws {
        let watch = BatchEngineTests.watch(0)
        let engine = BatchEngine(arithmetic, watch: watch)
        let checks = try signatures.checks()
        let expected = OpenSSLEngine().verify(checks)
        #expect(expected.contains(true))
        // In large groups, in the smallest that go in step, in smaller ones, and alone.
        for size in [64, 32, 8, 1] {
            for start in stride(from: 0, to: checks.count, by: size) {
                let range = start..<min(start + size, checks.count)
                let answers = engine.verify(Array(checks[range]))
                #expect(answers == Array(expected[range]), "\(size) together, from \(start)")
            }
        }
        if leavesNone || arithmetic == .portable { #expect(watch.undecidedCount == 0) }
    }

    /// The one odd u whose last column added to itself and n is u: 2 P is S or -S in the last step, for every key.
    private static let wrapped = Scalar([
        0xF3B9_CAC0_FC63_2553, 0xBCE6_FAAF_A717_9E86, 0xFFFF_FFFD_FFFF_FFFD, 0xFFFF_FFFD_0000_0002,
    ])

    @Test(arguments: usable)
    func `columns that are equal or opposite at any step have OpenSSL's answers`(arithmetic: BatchArithmetic) throws {
        var signatures = ChosenSignatures()
        for step in 0..<31 {
            for isOpposite in [false, true] {
                let u2 = Self.columns(step, isOpposite: isOpposite, 7 * step + (isOpposite ? 1 : 0))
                signatures.add(Self.random(step), Self.random(step + 100), u2)
                signatures.add(Self.random(step), Self.random(step + 200), u2.negative)
            }
        }
        for u2 in [Self.wrapped, Self.wrapped.negative] { signatures.add(Self.random(1), Self.random(2), u2) }
        try Self.judge(signatures, arithmetic)
    }

    @Test(arguments: usable)
    func `scalars of few or equal words have OpenSSL's answers`(arithmetic: BatchArithmetic) throws {
        var signatures = ChosenSignatures()
        for (index, u2) in Self.hostile().enumerated() {
            for own in [u2, u2.negative] where !own.isZero {
                signatures.add(Self.random(index), Self.random(index + 300), own)
                // Small keys: multiples of G.
                for d in Self.few + Self.few.map(\.negative) { signatures.add(d, own, Self.random(index + 400)) }
            }
        }
        try Self.judge(signatures, arithmetic, leavesNone: false)
    }

    /// The last sum doubles a point, is the point at infinity, or has one term.
    @Test(arguments: usable)
    func `u1 G and u2 Q that are equal, opposite or alone have OpenSSL's answers`(arithmetic: BatchArithmetic) throws {
        var signatures = ChosenSignatures()
        for index in 0..<20 {
            let (d, u2) = (Self.random(index), Self.random(index + 500))
            for u1 in [u2 * d, (u2 * d).negative, Scalar(0)] { signatures.add(d, u1, u2) }
        }
        try Self.judge(signatures, arithmetic, leavesNone: false)
    }
}
