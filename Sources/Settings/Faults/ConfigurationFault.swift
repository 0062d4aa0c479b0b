/// An invalid configuration: lines that name the file, the place in it, and the remedy, one for each thing that is wrong.
package struct ConfigurationFault: ExplainedFault, Equatable {
    package let lines: [String]
    package var message: String { lines.joined(separator: "\n") }
    package var sentence: String { message }
    package var exitCode: Int32 { ExitCode.usage }

    package init(_ message: String) { lines = [message] }

    /// - Parameter lines: at least one.
    package init(lines: [String]) { self.lines = lines }
}

/// Collects what is wrong, so that one run shows all of it.
package struct FaultList {
    private var lines: [String] = []

    package init() {}

    /// Goes on after a fault.
    ///
    /// - Returns: nil where there was one.
    @discardableResult
    package mutating func attempt<Value>(_ work: () throws(ConfigurationFault) -> Value) -> Value? {
        do throws(ConfigurationFault) { return try work() } catch {
            add(error)
            return nil
        }
    }

    package mutating func add(_ fault: ConfigurationFault) { lines += fault.lines }

    /// - Throws: all that was collected; returns where nothing was.
    package func check() throws(ConfigurationFault) {
        if !lines.isEmpty { throw ConfigurationFault(lines: lines) }
    }
}
