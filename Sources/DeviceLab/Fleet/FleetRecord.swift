package import AppAttest

/// One record of a fleet.
package struct FleetRecord: Sendable {
    package let step: FleetStep
    package let keyID: KeyID
    package let clientDataHash: [UInt8]
    /// The attestation or assertion object.
    package let object: [UInt8]

    package var method: FleetPlan.Method { step.method }
    package var time: EvaluationTime { step.time }
    package var fault: FleetFault? { step.fault }
}
