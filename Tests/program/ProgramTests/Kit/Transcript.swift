internal import JSON
internal import TestKit
internal import Testing

@testable internal import CommandFrame
@testable internal import Commands

/// A console that keeps its output.
final class Transcript {
    private var outputBytes: [UInt8] = []
    private var errorBytes: [UInt8] = []
    private let isTerminal: Bool

    init(isTerminal: Bool = false) { self.isTerminal = isTerminal }

    var console: Console {
        Console(
            isTerminal: isTerminal,
            output: { self.outputBytes += $0 },
            error: { self.errorBytes += $0 }
        )
    }
    var output: String { String(decoding: outputBytes, as: UTF8.self) }
    var error: String { String(decoding: errorBytes, as: UTF8.self) }
    /// Standard output as one value.
    var json: JSONNode { get throws { try JSONDocument(parsing: outputBytes, maxNodes: outputBytes.count).root } }

    /// Runs a command of the program in this process.
    static func run(
        _ arguments: [String],
        commands: [Command] = AttestWorker.commands
    ) -> (code: Int32, transcript: Transcript) {
        let transcript = Transcript()
        return (AttestWorker.main(arguments, commands: commands, console: transcript.console), transcript)
    }

    /// Runs a command that must end with exit code 0.
    @discardableResult
    static func done(
        _ arguments: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Transcript {
        let (code, transcript) = run(arguments)
        try #require(code == 0, "\(arguments[0]): \(transcript.error)", sourceLocation: sourceLocation)
        return transcript
    }
}

extension KeyDirectory {
    /// Runs a command on this directory.
    func run(_ command: String, _ arguments: String...) -> (code: Int32, output: String, error: String) {
        let (code, transcript) = Transcript.run([command, "--config", path] + arguments)
        return (code, transcript.output, transcript.error)
    }
}
