package import Foundation
internal import TestKit
package import Testing

/// A client that is none of ours, where this machine has it.
package enum Kcat {
    static let program = KafkaInstallation.executable("kcat")

    /// Runs it on a topic to its end. - Returns: what it printed.
    @discardableResult
    package static func run(_ servers: String, topic: String, _ arguments: [String]) throws -> Data {
        guard let program else { throw ClusterFault(description: "kcat is not installed") }
        let run = PythonLab.run([program.path, "-b", servers, "-t", topic] + arguments)
        guard run.code == 0 else { throw ClusterFault(description: "kcat \(arguments): \(run.error)") }
        return run.output
    }
}

extension Trait where Self == ConditionTrait {
    /// A test that needs ``Kcat``.
    package static var kcatTests: Self { .enabled(if: Kcat.program != nil, "kcat is not installed") }
}
