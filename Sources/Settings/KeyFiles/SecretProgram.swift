internal import CProcess
internal import Glibc

/// Runs a program for the secret that it writes to its standard output: no shell, the worker's environment, an empty
/// standard input, and 30 s at most. Its standard error is the worker's.
enum SecretProgram {
    static let limit = Duration.seconds(30)
    /// The size of the largest key file.
    private static let maxBytes = 64 << 10
    private static let pause: useconds_t = 5_000

    /// Why a program gave no secret: the end of a sentence that begins with its path.
    enum Fault: Error, Equatable, CustomStringConvertible {
        case notStarted(String)
        case failed(code: Int32)
        case killed(signal: Int32)
        case late
        case tooLong

        var description: String {
            switch self {
            case .notStarted(let reason): "cannot be started: \(reason)"
            case .failed(let code): "ended with code \(code); run it as the worker's user to see why"
            case .killed(let signal): "was ended by signal \(signal); run it as the worker's user to see why"
            case .late:
                "has not ended after \(SecretProgram.limit.components.seconds) s; make it faster, or write a file"
            case .tooLong: "wrote more than any key has"
            }
        }
    }

    /// - Parameter command: the program's absolute path and its arguments.
    static func output(of command: [String], limit: Duration = Self.limit) throws(Fault) -> [UInt8] {
        let deadline = ContinuousClock.now + limit
        let (child, pipe) = try start(command)
        defer { close(pipe) }
        do throws(Fault) {
            let bytes = try read(pipe, until: deadline)
            try check(status: try wait(for: child, until: deadline))
            return bytes
        } catch {
            // The program leads its own group: what it has started ends with it.
            kill(-child, SIGKILL)
            var status: Int32 = 0
            // The call fills the status in; a child that was waited for already is not there any more.
            _ = unsafe waitpid(child, &status, 0)
            throw error
        }
    }

    private static func check(status: Int32) throws(Fault) {
        // As WIFSIGNALED and WEXITSTATUS read a status.
        guard status & 0x7F == 0 else { throw .killed(signal: status & 0x7F) }
        guard status >> 8 & 0xFF == 0 else { throw .failed(code: status >> 8 & 0xFF) }
    }

    private static func start(_ command: [String]) throws(Fault) -> (child: pid_t, pipe: Int32) {
        // Copies of the words, freed when the child has its own.
        let words = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var (child, pipe): (pid_t, Int32) = (0, -1)
        // The call fills both in.
        let code = unsafe process_start(words, &child, &pipe)
        guard code == 0 else { throw .notStarted(POSIXText.describe(code)) }
        return (child, pipe)
    }

    private static func read(_ pipe: Int32, until deadline: ContinuousClock.Instant) throws(Fault) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let rest = (deadline - .now) / .milliseconds(1)
            guard rest > 0 else { throw .late }
            var entry = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            // One entry, which the call fills in.
            guard unsafe poll(&entry, 1, Int32(min(rest, 1_000) + 1)) > 0 else { continue }
            // The call writes as many bytes as there is room for.
            let count = unsafe Glibc.read(pipe, &chunk, chunk.count)
            if count == 0 { return bytes }
            bytes += chunk.prefix(max(0, count))
            guard bytes.count <= maxBytes else { throw .tooLong }
        }
    }

    /// - Returns: the status as `wait` gives it.
    private static func wait(for child: pid_t, until deadline: ContinuousClock.Instant) throws(Fault) -> Int32 {
        var status: Int32 = 0
        while true {
            // The call fills the status in.
            let ended = unsafe waitpid(child, &status, WNOHANG)
            if ended == child { return status }
            guard ended == 0 || errno == EINTR, ContinuousClock.now < deadline else { throw .late }
            usleep(pause)
        }
    }
}
