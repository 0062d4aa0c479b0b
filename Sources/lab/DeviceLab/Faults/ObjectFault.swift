package import AppAttest

/// The damage that a fault does to one part.
typealias FaultEdit<Part> = @Sendable (inout Part) -> Void

/// One fault of an object of the lab, by name: where it does its damage, and the reason for which it must be refused.
///
/// All else is right, and everything that covers the wrong part is signed again, so that the fault reaches its own
/// check. Replayed counters are not here: a caller makes them with ``FakeDevice/assertion(clientDataHash:counter:fault:)``.
package struct ObjectFault<Object: FaultyObject>: Sendable {
    /// The place where a fault does its damage: the earlier, the more is signed again over it.
    enum Effect: Sendable {
        case draft(FaultEdit<Object.Draft>)
        case parts(FaultEdit<Object>)
        case statement(FaultEdit<[CBORPair]>)
        case topLevel(FaultEdit<[CBORPair]>)
        case bytes(FaultEdit<[UInt8]>)
    }

    /// The demand of an app that refuses the fault.
    enum Demand: Sendable { case category, bundleVersion, receipt, environment }

    package let name: String
    /// The one reason that a verifier must give.
    package let expected: Object.Reason
    private let effect: Effect
    fileprivate var demand: Demand?
    fileprivate var isPossible: @Sendable (DeviceShape) -> Bool = { _ in true }
    /// The only object that has the fault, of those that share a table.
    var subject: FaultSubject?

    init(_ name: String, _ expected: Object.Reason, _ effect: Effect) {
        (self.name, self.expected, self.effect) = (name, expected, effect)
    }

    static func draft(_ name: String, _ expected: Object.Reason, _ edit: @escaping FaultEdit<Object.Draft>) -> Self {
        Self(name, expected, .draft(edit))
    }

    static func parts(_ name: String, _ expected: Object.Reason, _ edit: @escaping FaultEdit<Object>) -> Self {
        Self(name, expected, .parts(edit))
    }

    static func bytes(_ name: String, _ edit: @escaping FaultEdit<[UInt8]>) -> Self {
        Self(name, Object.malformed, .bytes(edit))
    }

    /// The fault refused only by apps with that demand.
    func under(_ demand: Demand) -> Self { with { $0.demand = demand } }
    /// The fault of those shapes' devices only.
    func on(_ isPossible: @escaping @Sendable (DeviceShape) -> Bool) -> Self { with { $0.isPossible = isPossible } }
    func of(_ subject: FaultSubject) -> Self { with { $0.subject = subject } }

    private func with(_ change: (inout Self) -> Void) -> Self {
        var fault = self
        change(&fault)
        return fault
    }

    func edit(_ draft: inout Object.Draft) { if case .draft(let edit) = effect { edit(&draft) } }
    func edit(_ parts: inout Object) { if case .parts(let edit) = effect { edit(&parts) } }
    func edit(statement: inout [CBORPair]) { if case .statement(let edit) = effect { edit(&statement) } }
    func edit(topLevel: inout [CBORPair]) { if case .topLevel(let edit) = effect { edit(&topLevel) } }
    func edit(_ bytes: inout [UInt8]) { if case .bytes(let edit) = effect { edit(&bytes) } }
}

extension ObjectFault: Hashable, CaseIterable {
    package static var allCases: [Self] { Object.faults }
    package static func == (one: Self, other: Self) -> Bool { one.name == other.name }
    package func hash(into hasher: inout Hasher) { hasher.combine(name) }

    static func named(_ name: String) -> Self {
        guard let fault = allCases.first(where: { $0.name == name }) else {
            preconditionFailure("no object of that kind has the fault \(name)")
        }
        return fault
    }
}

extension ObjectFault where Object.Reason == Refusal {
    package func applies(to shape: DeviceShape) -> Bool { isPossible(shape) }

    /// Whether the reason depends on what an app allows: then `neededExpectations` differ from the base.
    package var needsPolicy: Bool { demand != nil }

    /// The expectations under which `device`'s object with this fault gets ``expected``.
    package func neededExpectations(_ base: Expectations, for device: FakeDevice) -> Expectations {
        var needed = base
        switch demand {
        case .category: needed.categories = EntryPolicy(allow: [device.category], whenMissing: .refuse)
        case .bundleVersion:
            needed.bundleVersions = EntryPolicy(allow: [ExactText(device.bundleVersion)], whenMissing: .refuse)
        case .receipt: needed.receipt = .require
        case .environment: needed.environments = [device.environment]
        case nil: break
        }
        return needed
    }
}
