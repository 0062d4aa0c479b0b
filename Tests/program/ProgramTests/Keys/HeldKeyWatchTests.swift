import AppCheck
import Crypto
import Settings
import Telemetry
import TestKit
import Testing
import Threads

@testable import Run

@Suite("Keys that are held elsewhere")
struct HeldKeyWatchTests {
    private let lines = Locked<[String]>([])

    private static func ring(_ key: any HeldKey, state: TokenKey.State = .active) throws -> TokenKeyRing {
        try TokenKeyRing([TokenKey(kid: "k1", algorithm: .es256, state: state, key: SigningKey(key))])
    }

    private static func fail(_ key: UnsteadyKey) {
        key.set(failures: 1, isWell: false)
        #expect(key.signature(of: SHA256.hash([])) == nil && !key.isAvailable)
    }

    @Test func `a key that is away is told once, tried again every fifth second, and told once when it is back`() throws
    {
        let key = UnsteadyKey(try #require(ExchangeKit.p256))
        let watch = HeldKeyWatch(try Self.ring(key)) { event in lines.withLock { $0.append(event.message) } }
        watch.poll()
        #expect(lines.withLock { $0 }.isEmpty)
        Self.fail(key)
        for _ in 0..<12 { watch.poll() }
        let away = "signing key k1 is away: exchanges that need it are deferred until it signs"
        #expect(lines.withLock { $0 } == [away])
        key.set(failures: 0)
        var polls = 0
        while !key.isAvailable, polls < 20 {
            watch.poll()
            polls += 1
        }
        #expect(key.isAvailable && polls <= HeldKeyWatch.pollsPerTry)
        #expect(lines.withLock { $0 } == [away, "signing key k1 signs again"])
        watch.poll()
        #expect(lines.withLock { $0.count } == 2)
    }

    @Test func `a key whose token did not answer at the start is tried again, and a reload opens it once`() throws {
        let (answers, tries, reloads) = (Locked(false), Locked(0), Locked(0))
        let silent = SilentKey(kid: "k1") {
            tries.withLock { $0 += 1 }
            return answers.withLock { $0 }
        }
        let watch = HeldKeyWatch(TokenKeyRing(), silent: [silent]) {
            reloads.withLock { $0 += 1 }
        } say: { event in
            lines.withLock { $0.append(event.message) }
        }
        for _ in 0...HeldKeyWatch.pollsPerTry { watch.poll() }
        #expect(tries.withLock { $0 } == 2 && reloads.withLock { $0 } == 0)
        let away = "signing key k1 does not answer in time: "
        #expect(lines.withLock { $0 } == [away + "exchanges that need it are deferred until it signs"])
        answers.withLock { $0 = true }
        for _ in 0...3 * HeldKeyWatch.pollsPerTry { watch.poll() }
        #expect(tries.withLock { $0 } == 3 && reloads.withLock { $0 } == 1)
        watch.use(try Self.ring(UnsteadyKey(try #require(ExchangeKit.p256))))
        watch.poll()
        #expect(lines.withLock { $0.count } == 2 && lines.withLock { $0.last } == "signing key k1 signs again")
    }

    @Test func `a key that is published only, or not in use any more, is neither tried nor told`() throws {
        let key = UnsteadyKey(try #require(ExchangeKit.p256))
        let watch = HeldKeyWatch(try Self.ring(key, state: .published)) { event in
            lines.withLock { $0.append(event.message) }
        }
        Self.fail(key)
        key.set(failures: 0)
        watch.poll()
        #expect(!key.isAvailable && lines.withLock { $0 }.isEmpty)
        watch.use(try Self.ring(key))
        watch.use(TokenKeyRing())
        watch.poll()
        #expect(!key.isAvailable && lines.withLock { $0 }.isEmpty)
    }
}
