import AppAttest
import AppCheck
import Crypto
import DeviceLab
import Pipeline
import SimulationKit
import TestKit
import Testing

/// A grain's tokens are signed together; what comes out does not depend on who signs.
@Suite struct SignedTogetherTests {
    private static let deviceCount: UInt64 = 14

    /// The tokens of one batch of assertions.
    private static func tokens(
        _ library: SigningLibrary?,
        _ algorithm: TokenSettings.Algorithm = .rs256
    ) throws -> [String] {
        var settings = try ExchangeKit.settings { $0.tokens = TokenSettings(algorithm: algorithm) }
        let keys = settings.exchange.keys.tokens.keys.map { ($0.kid, $0.key) }
        if let library { settings.exchange.signer = TokenSigner(library, keys: keys) }
        let rig = try ExchangeRig(settings)
        var devices = try rig.register(0..<deviceCount)
        return try rig.send(rig.assertions(of: &devices)).compactMap(\.tokenText)
    }

    @Test func `RS256 tokens are the same bytes with a library and without`() throws {
        let library = SigningLibrary(FakeGroupSigner(), engine: nil) { Issue.record("\($0)") }
        let tokens = try Self.tokens(library)
        #expect(tokens.count == Int(Self.deviceCount) && Set(tokens).count == tokens.count)
        #expect(tokens == (try Self.tokens(nil)))
        #expect(library.signedCount > 0)
    }

    @Test(arguments: FakeGroupSigner.Fault.allCases)
    func `a library that signs wrongly changes no token`(fault: FakeGroupSigner.Fault) throws {
        let library = SigningLibrary(FakeGroupSigner(fault, after: FakeGroupSigner.testGroups), engine: nil) { _ in }
        #expect(try Self.tokens(library) == Self.tokens(nil))
        #expect(library.isStopped)
    }

    @Test(.enabled(if: BatchArithmetic.featureMissingForIFMA == nil))
    func `ES256 tokens that a library signed verify`() throws {
        let watch = EngineWatch(crossCheck: 0, key: 0) { Issue.record("\($0)") }
        let library = SigningLibrary(FakeGroupSigner(), engine: watch) { Issue.record("\($0)") }
        let tokens = try Self.tokens(library, .es256)
        #expect(library.signedCount > 0)
        let ring = try ExchangeKit.settings().exchange.keys.tokens
        #expect(tokens.count == Int(Self.deviceCount))
        #expect(tokens.allSatisfy { ExchangeToken($0)?.isSigned(by: ring) ?? false })
    }
}
