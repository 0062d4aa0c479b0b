package import Foundation
package import Testing

/// A client that is none of ours, where this machine has it.
package enum Kcat {
    static let program = KafkaInstallation.executable("kcat")

    /// Runs it on a topic to its end. - Returns: what it printed.
    @discardableResult
    package static func run(_ servers: String, topic: String, _ arguments: [String], input: String = "") throws -> Data
    {
        guard let program else { throw ProgramFault(description: "kcat is not installed") }
        let process = Process()
        let (standardInput, output) = (Pipe(), Pipe())
        process.executableURL = program
        process.arguments = ["-b", servers, "-t", topic] + arguments
        process.standardInput = standardInput
        process.standardOutput = output
        try process.run()
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try standardInput.fileHandleForWriting.close()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw ProgramFault(description: "kcat \(arguments) failed") }
        return printed
    }
}

extension Trait where Self == ConditionTrait {
    /// A test that needs ``Kcat``.
    package static var kcatTests: Self { .enabled(if: Kcat.program != nil, "kcat is not installed") }
}
