internal import AppAttest
internal import DeviceLab

/// Faults to draw from: every second time any of them, every second time one of a reason drawn first, so that rare
/// reasons come often enough.
struct FaultMenu<Fault: Sendable>: Sendable {
    private let all: [Fault]
    private let byReason: [[Fault]]

    init(_ faults: [Fault], reason: (Fault) -> String) {
        all = faults
        let groups = Dictionary(grouping: faults, by: reason)
        byReason = groups.keys.sorted().map { groups[$0] ?? [] }
    }

    func draw(_ random: inout SeededRandom) -> Fault {
        let faults = random.below(2) == 0 ? all : byReason[random.below(byReason.count)]
        return faults[random.below(faults.count)]
    }
}

extension FaultMenu {
    static func of<Object>(_ shape: DeviceShape) -> Self where Fault == ObjectFault<Object>, Object.Reason == Refusal {
        FaultMenu(Fault.allCases.filter { $0.applies(to: shape) }) { $0.expected.code }
    }
}

extension FaultMenu<ReceiptFault> {
    /// Two receipts in one are more than an attestation may carry; they are judged on their own.
    static let inAttestations = FaultMenu(
        ReceiptFault.allCases.filter { $0.applies(to: .attest, isAlone: false) && $0 != .twoObjects }
    ) { $0.expected.rawValue }

    static func alone(_ type: ReceiptType) -> FaultMenu {
        FaultMenu(ReceiptFault.allCases.filter { $0.applies(to: type, isAlone: true) }) { $0.expected.rawValue }
    }
}
