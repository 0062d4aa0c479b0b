import AppAttest
import Pipeline
import Settings
import Testing

@testable import Crypto
@testable import Run

@Suite("The lanes of a process")
struct LoopRigTests {
    @Test func `say when their engine was stopped`() throws {
        let rig = try LoopRig.lab(lanes: 2) { _ in }
        #expect(!rig.lanes.isEngineStopped)
        let digest = SHA256.hash([1])
        let key = P256PublicKey(uncheckedX: digest, y: digest)
        let signature = P256Signature(r: digest, s: digest)
        rig.watch.stop(.p256(key: key, digest: digest, signature: signature), answered: true)
        #expect(rig.lanes.isEngineStopped)
    }
}

extension LoopRig {
    /// Lanes without anchors.
    static func lab(
        lanes: Int,
        alarm: @escaping EngineWatch.Alarm = { Issue.record(Comment(rawValue: $0)) }
    ) throws -> LoopRig {
        var configuration = Configuration()
        configuration.lanes = lanes
        return try LoopRig(configuration, alarm: alarm)
    }
}
