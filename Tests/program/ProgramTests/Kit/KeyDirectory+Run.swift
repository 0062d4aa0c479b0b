internal import TestKit

extension KeyDirectory {
    /// Runs a command on this directory.
    func run(_ command: String, _ arguments: String...) -> (code: Int32, output: String, error: String) {
        let (code, transcript) = Transcript.run([command, "--config", path] + arguments)
        return (code, transcript.output, transcript.error)
    }
}
