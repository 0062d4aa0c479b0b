import Crypto
import Dispatch
import Testing

/// P-384 with tables against OpenSSL, over edges and single faults.
struct P384BatchTests {
    /// Tables of two lab keys, G and −G.
    private static let tables: P384Tables = {
        let tables = P384Tables()
        for key in [P384Cases(seed: 1).key, P384Cases(seed: 2).key] + P384Cases.generators { tables.prepare(key) }
        return tables
    }()

    private static func engine(_ arithmetic: BatchArithmetic, _ watch: EngineWatch) -> BatchEngine {
        BatchEngine(arithmetic, watch: watch, tables: tables)
    }

    private static func engine(_ arithmetic: BatchArithmetic) -> BatchEngine {
        engine(arithmetic, BatchEngineTests.watch(0))
    }

    @Test(arguments: usable)
    func `every place of every group size has its own answer in P-384`(arithmetic: BatchArithmetic) {
        let (engine, cases) = (Self.engine(arithmetic), P384Cases(seed: 1))
        let valid = (0..<66).map { cases.valid($0) }
        for count in [1, 2, 7, 8, 9, 16, 63, 64, 65, 66] {
            let bad = count * 5 / 7
            var checks = Array(valid.prefix(count))
            checks[bad] = cases.invalid(bad)
            #expect(engine.verify(checks) == (0..<count).map { $0 != bad }, "\(count) signatures")
        }
        for bad in 0..<8 {
            var checks = Array(valid.prefix(8))
            checks[bad] = cases.invalid(bad)
            #expect(engine.verify(checks) == (0..<8).map { $0 != bad }, "lane \(bad)")
        }
    }

    @Test(arguments: usable)
    func `P-384 edges have OpenSSL's answers, and none but additions' exceptions are left to it`(
        arithmetic: BatchArithmetic
    ) {
        let watch = BatchEngineTests.watch(0)
        let engine = Self.engine(arithmetic, watch)
        let checks = P384Cases.edges(of: P384Cases(seed: 1).key)
        let expected = OpenSSLEngine().verify(checks)
        #expect(engine.verify(checks) == expected)
        #expect(engine.verify(checks.reversed()) == expected.reversed())
        #expect(watch.undecidedCount == 0)
        for generator in P384Cases.generators {
            let checks = P384Cases.edges(of: generator)
            let expected = OpenSSLEngine().verify(checks)
            #expect(expected.contains(true))
            #expect(engine.verify(checks) == expected)
        }
        #expect(watch.undecidedCount > 0)
    }

    @Test(arguments: usable)
    func `any bit of r, s or digest that changes refuses a P-384 signature, and no other`(
        arithmetic: BatchArithmetic
    ) {
        let (engine, cases) = (Self.engine(arithmetic), P384Cases(seed: 2))
        for start in stride(from: 0, to: 1024, by: 128) {
            let checks = stride(from: start, to: start + 128, by: 5).map { cases.altered(3, bit: $0) }
            #expect(engine.verify(checks + [cases.valid(3)]) == checks.map { _ in false } + [true])
        }
    }

    @Test(arguments: usable)
    func `signatures by different issuers, with and without a table, have OpenSSL's answers`(
        arithmetic: BatchArithmetic
    ) {
        let engine = Self.engine(arithmetic)
        let issuers = (1...3).map { P384Cases(seed: $0) }
        let checks = (0..<40).map { $0 % 5 == 0 ? issuers[$0 % 3].invalid($0) : issuers[$0 / 2 % 3].valid($0) }
        let expected = OpenSSLEngine().verify(checks)
        #expect(expected == (0..<40).map { $0 % 5 != 0 })
        #expect(engine.verify(checks) == expected)
        #expect(Self.tables.table(of: issuers[2].key) == nil)
    }

    @Test(arguments: usable)
    func `a spelling that is not strict DER is refused beside valid ones`(arithmetic: BatchArithmetic) {
        let (engine, cases) = (Self.engine(arithmetic), P384Cases(seed: 1))
        guard case .p384(let key, let digest, let der) = cases.valid(0) else { return }
        let spellings = [[], Array(der.dropLast()), der + [0], [0x30, 0x81] + der.dropFirst()]
        let checks = spellings.map { SignatureCheck.p384(key: key, digest: digest, signature: $0) } + [cases.valid(0)]
        #expect(engine.verify(checks) == [false, false, false, false, true])
    }
}

/// Who has a table, and when.
struct P384TablesTests {
    @Test func `a key has a table once it was prepared, and one only`() {
        let (tables, key) = (P384Tables(), P384Cases(seed: 1).key)
        #expect(tables.table(of: key) == nil)
        tables.prepare(key)
        let table = tables.table(of: key)
        #expect(table != nil)
        tables.prepare(key)
        #expect(tables.count == 1)
        #expect(tables.table(of: key) === table)
    }

    @Test func `threads that prepare and read the same keys share eight tables, and further keys have none`() {
        let tables = P384Tables()
        let keys = (0..<10).map { P384Cases(seed: UInt8($0)).key }
        // Two threads per key, keys in different order.
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for index in keys.indices {
                let key = keys[thread < 2 ? index : keys.count - 1 - index]
                tables.prepare(key)
                _ = tables.table(of: key)
            }
        }
        #expect(tables.count == P384Tables.mostIssuers)
        #expect(keys.count { tables.table(of: $0) != nil } == P384Tables.mostIssuers)
    }

    @Test(arguments: usable)
    func `threads verify with one table at once`(arithmetic: BatchArithmetic) {
        let (tables, cases) = (P384Tables(), P384Cases(seed: 4))
        tables.prepare(cases.key)
        let checks = (0..<16).map { $0 % 3 == 0 ? cases.invalid($0) : cases.valid($0) }
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            let engine = BatchEngine(arithmetic, watch: BatchEngineTests.watch(0), tables: tables)
            #expect(engine.verify(checks) == (0..<16).map { $0 % 3 != 0 })
        }
    }
}
