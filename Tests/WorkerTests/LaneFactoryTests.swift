import AppAttest
import Pipeline
import Settings
import Testing

@testable import Crypto
@testable import Worker

@Suite("The lanes of a process")
struct LaneFactoryTests {
    @Test func `say when their engine was stopped`() throws {
        let factory = LaneFactory(
            lanes: 2,
            engine: try EngineChoice(EngineSettings()),
            anchors: try TrustAnchors(attestationPEM: [], receiptPEM: []),
            limits: ObjectLimits(),
            alarm: { _ in }
        )
        #expect(!factory.lanes.isEngineStopped)
        let digest = SHA256.hash([1])
        let key = P256PublicKey(uncheckedX: digest, y: digest)
        let signature = P256Signature(r: digest, s: digest)
        factory.watch.stop(.p256(key: key, digest: digest, signature: signature), answered: true)
        #expect(factory.lanes.isEngineStopped)
    }
}
