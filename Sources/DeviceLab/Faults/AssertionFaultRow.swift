internal import AppAttest

/// A fault, where it does its damage, and the reason for which it must be refused.
struct AssertionFaultRow: Sendable {
    let fault: AssertionFault
    let expected: Refusal
    let effect: AssertionEffect

    init(_ fault: AssertionFault, _ expected: Refusal, _ effect: AssertionEffect) {
        self.fault = fault
        self.expected = expected
        self.effect = effect
    }
}
