internal import Settings

extension Arguments {
    /// The engine that `--engine` names; nil where it is absent.
    func engine() throws(UsageFault) -> EngineUse? {
        guard let name = string("--engine") else { return nil }
        guard let engine = EngineUse(rawValue: name) else {
            throw UsageFault("--engine must be one of \(EngineUse.names), not '\(name.printable)'.")
        }
        return engine
    }
}

extension EngineUse {
    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension Option {
    static let engine = Option.value(
        "--engine",
        "NAME",
        "engine to verify with instead of the configured one: \(EngineUse.names)",
        choices: EngineUse.allCases.map(\.rawValue)
    )
}
