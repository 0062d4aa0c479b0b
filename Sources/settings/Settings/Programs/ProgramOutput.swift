internal import Crypto
// `environ` is a variable of C.
@unsafe @preconcurrency internal import Glibc
internal import Threads

/// Why a program gave no output: one clause about it, without what it printed but the first line of its standard error.
package struct ProgramFault: Error, Equatable {
    package let clause: String
    /// Whether the program was not run, since others may change it: another try does not help.
    package let isMistake: Bool

    package init(clause: String, isMistake: Bool = false) { (self.clause, self.isMistake) = (clause, isMistake) }

    fileprivate init(startCode: Int32) { self.init(clause: "cannot be started: \(POSIXText.describe(startCode))") }
}

/// Runs programs and takes what they print. No shell is between.
package enum ProgramOutput {
    /// Runs a program in a process group of its own until it ends, and returns its standard output.
    ///
    /// It inherits the environment and no file but its own; its standard input is empty. What it leaves running in its group
    /// is killed. Only what root and this process's user alone can change is run.
    ///
    /// - Parameters:
    ///   - arguments: the program's whole path, then its arguments.
    ///   - limit: after this time the group is killed.
    ///   - bytes: the most that it may print.
    ///   - takesErrors: whether its standard error is taken for a fault's clause; else it goes to this process's.
    /// - Throws: ``ProgramFault`` unless it ends by itself with exit code 0.
    package static func run(
        arguments: [String],
        limit: Duration = .seconds(30),
        bytes: Int = 64 << 10,
        takesErrors: Bool = true
    ) throws(ProgramFault) -> [UInt8] {
        let output = try OutputPipe(most: bytes)
        let errors = takesErrors ? try OutputPipe(most: mostErrorBytes) : nil
        let program: Int32
        do throws(CodeFault) { program = try CodeFile.open(arguments.first ?? "") } catch {
            throw ProgramFault(clause: error.description, isMistake: error != .missing)
        }
        defer { close(program) }
        let child = try start(program, arguments, output, errors)
        running.withLock { _ = $0.insert(child) }
        let deadline = ContinuousClock.now + limit
        var cause: String?
        repeat {
            usleep(sliceMicroseconds)
            output.take()
            errors?.take()
            if output.isTooLong { cause = "printed more than \(bytes) bytes, and was killed" }
            if ContinuousClock.now >= deadline { cause = "did not end within \(limit), and was killed" }
            // The child stays a zombie, so that its group's number is not given to others.
        } while cause == nil && hasNoEnd(child)
        running.withLock { _ = $0.remove(child) }
        end(child)
        var status: Int32 = 0
        // An interrupted wait is repeated: no other thread waits for this child.
        while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
        output.take()
        errors?.take()
        if let cause { throw ProgramFault(clause: cause) }
        guard status == 0 else { throw ProgramFault(clause: ending(status) + (errors?.firstLine ?? hint)) }
        guard !output.isTooLong else { throw ProgramFault(clause: "printed more than \(bytes) bytes") }
        return output.bytes
    }

    /// Kills what is still running: a process that ends calls it, so that nothing stays behind.
    package static func finish() {
        running.withLock { for child in $0 { end(child) } }
    }

    /// Kills the group, and the program itself, which may have left it.
    private static func end(_ child: pid_t) {
        for number in [-child, child] { kill(number, SIGKILL) }
    }

    private static let running = Locked<Set<pid_t>>([])
    private static let sliceMicroseconds: UInt32 = 5_000
    private static let mostErrorBytes = 4 << 10
    private static let hint = "; run it as the worker's user to see why"

    private static func hasNoEnd(_ child: pid_t) -> Bool {
        var end = unsafe siginfo_t()
        // A structure of this stack, which the call fills in; its number stays 0 while there is no end.
        return unsafe waitid(P_PID, id_t(child), &end, WEXITED | WNOHANG | WNOWAIT) == 0
            && end._sifields._sigchld.si_pid == 0
    }

    /// The status of `waitpid`, as its macros read it.
    private static func ending(_ status: Int32) -> String {
        status & 0x7F == 0 ? "ended with exit code \(status >> 8 & 0xFF)" : "was ended by signal \(status & 0x7F)"
    }

    /// Not in the header that Swift reads, and in glibc since 2.34: a client library's pipes stay open without it.
    private static let closeFrom: CloseFrom? = {
        // The symbol is a function of this type.
        unsafe dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
            unsafe unsafeBitCast($0, to: CloseFrom.self)
        }
    }()
    private typealias CloseFrom =
        @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

    /// - Parameter program: judged and open: what runs is that file, whatever its path names by then.
    private static func start(
        _ program: Int32,
        _ arguments: [String],
        _ output: OutputPipe,
        _ errors: OutputPipe?
    ) throws(ProgramFault) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        var (none, all) = (sigset_t(), sigset_t())
        // All of it lives until the call has returned, which copies what it needs.
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output.writingEnd, 1)
        if let errors { unsafe posix_spawn_file_actions_adddup2(&actions, errors.writingEnd, 2) }
        // A script's interpreter opens it by this number.
        unsafe posix_spawn_file_actions_adddup2(&actions, program, 3)
        _ = unsafe closeFrom?(&actions, 4)
        // The program's own threads block some signals and ignore others.
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var child: pid_t = 0
        let code = unsafe posix_spawn(&child, "/proc/self/fd/3", &actions, &attributes, &words, environ)
        output.closeWriting()
        errors?.closeWriting()
        guard code == 0 else { throw ProgramFault(startCode: code) }
        return child
    }
}

/// What a program writes to one of its streams, up to a limit.
private final class OutputPipe {
    private(set) var bytes: [UInt8] = []
    private var reading: Int32
    private(set) var writingEnd: Int32
    private let most: Int

    init(most: Int) throws(ProgramFault) {
        var ends: [Int32] = [-1, -1]
        // Two numbers are written, or none.
        guard unsafe pipe(&ends) == 0 else { throw ProgramFault(startCode: errno) }
        (reading, writingEnd, self.most) = (ends[0], ends[1], most)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(reading, F_SETFL, O_NONBLOCK)
    }

    deinit {
        close(reading)
        closeWriting()
    }

    var isTooLong: Bool { bytes.count > most }

    /// `: ` and what a person may read of it; nothing where there is nothing.
    var firstLine: String {
        let text = String(decoding: bytes, as: UTF8.self)
        let line = text.split(whereSeparator: \.isNewline).first.map { String($0.prefix(200)).printable }
        return line.map { ": \($0)" } ?? ""
    }

    func closeWriting() {
        if writingEnd >= 0 { close(writingEnd) }
        writingEnd = -1
    }

    /// Takes what is there, and does not wait.
    func take() {
        var block = [UInt8](repeating: 0, count: 4096)
        while true {
            // At most the block's size is written.
            let count = unsafe read(reading, &block, block.count)
            guard count > 0 else { return }
            // Bytes above the limit are dropped: only that they came is of interest.
            bytes += block.prefix(min(count, most + 1 - min(most + 1, bytes.count)))
        }
    }
}
