internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Foundation
internal import Pipeline
internal import Settings

/// Makes the lanes: one verifier and one engine each, a meter for all.
struct LaneFactory {
    /// The name of the engine in summaries.
    static let engineName = "openssl"

    let count: Int
    let meter = TimedEngine.Meter()
    let lanes: DispatchLanes
    /// The records that each lane works on.
    let works: [WorkSlot]

    /// - Throws: ``ConfigurationFault`` naming the anchor that is no certificate.
    init(_ configuration: Configuration) throws(ConfigurationFault) {
        self.init(
            lanes: configuration.lanes,
            anchors: try configuration.trustAnchors(),
            limits: configuration.pipelineSettings(KeyRings()).objectLimits
        )
    }

    /// - Parameters:
    ///   - lanes: as configured; 0 = one per core.
    ///   - limits: the pipeline's own, so that Decode and Verify agree on which lengths are too long.
    init(lanes configured: Int, anchors: TrustAnchors, limits: ObjectLimits) {
        count = configured > 0 ? configured : max(1, ProcessInfo.processInfo.activeProcessorCount)
        let meter = meter
        works = (0..<count).map { _ in WorkSlot() }
        lanes = DispatchLanes(
            scratches: works.map { work in
                LaneScratch(
                    verifier: ObjectVerifier(anchors: anchors, limits: limits),
                    engine: TimedEngine(OpenSSLEngine(), meter: meter),
                    work: work
                )
            }
        )
    }
}
