internal import AppAttest

/// A fault, where it does its damage, and the reason for which it must be refused.
struct AttestationFaultRow: Sendable {
    let fault: AttestationFault
    let expected: Refusal
    let effect: AttestationEffect

    init(_ fault: AttestationFault, _ expected: Refusal, _ effect: AttestationEffect) {
        self.fault = fault
        self.expected = expected
        self.effect = effect
    }

    static func draft(
        _ fault: AttestationFault,
        _ expected: Refusal,
        _ edit: @escaping @Sendable (inout AttestationDraft) -> Void
    ) -> Self { Self(fault, expected, .draft(edit)) }

    static func parts(
        _ fault: AttestationFault,
        _ expected: Refusal,
        _ edit: @escaping @Sendable (inout AttestationParts) -> Void
    ) -> Self { Self(fault, expected, .parts(edit)) }
}
