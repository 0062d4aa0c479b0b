package import AppAttest

package enum FleetFault: Sendable, Hashable {
    /// An attestation beside the device's first one, refused whatever the stored state.
    case attestation(AttestationFault)
    case assertion(AssertionFault)
    /// An assertion again, byte for byte, in another request.
    case replay

    package var name: String {
        switch self {
        case .attestation(let fault): "attestation/\(fault.name)"
        case .assertion(let fault): "assertion/\(fault.name)"
        case .replay: "replay"
        }
    }

    package var expectedReason: String {
        switch self {
        case .attestation(let fault): fault.expected.code
        case .assertion(let fault): fault.expected.code
        case .replay: "counter-not-greater"
        }
    }
}

/// One record of a fleet, without its bytes.
package struct FleetStep: Sendable, Hashable {
    package let index: Int
    /// The device's number, from 0.
    package let device: Int
    package let kind: FleetPlan.ObjectKind
    /// The counter in an assertion; 0 in attestations.
    package let counter: UInt32
    package let time: EvaluationTime
    package let fault: FleetFault?
    /// The earlier record that a replay repeats, with its client data hash; nil where there was none to repeat.
    package let replayOf: Int?
}

/// The faults that a shape's devices can have in traffic, under any policy and with the one anchor.
package struct FaultPool: Sendable {
    private let attestation: [AttestationFault]
    private let assertion: [AssertionFault]

    package init(_ shape: DeviceShape, _ kinds: Set<FleetPlan.ObjectKind>) {
        // An empty object might not reach the verifier: requests need one.
        let attestations = AttestationFault.allCases.filter {
            $0 != .empty && !$0.needsPolicy && !$0.needsReceipts && !$0.needsDatedAnchors && $0.applies(to: shape)
        }
        let assertions = AssertionFault.allCases.filter { $0 != .empty && !$0.needsPolicy && $0.applies(to: shape) }
        attestation = kinds.contains(.attestation) ? attestations : []
        assertion = kinds.contains(.assertion) ? assertions : []
    }

    /// One in four is a replay, one in four an attestation, as far as devices do these at all.
    package func draw(_ number: UInt64) -> FleetFault {
        let pick = Int(truncatingIfNeeded: number >> 8 & 0xFFFF_FFFF)
        let kind = number & 3
        if assertion.isEmpty || (kind == 0 && !attestation.isEmpty) {
            return .attestation(attestation[pick % attestation.count])
        }
        return kind == 1 ? .replay : .assertion(assertion[pick % assertion.count])
    }
}
