internal import CommandFrame
internal import Commands
internal import Glibc

@main
struct Main {
    static func main() {
        // If a reader leaves, the write fails with an error: a worker must not die of a closed standard error.
        _ = signal(SIGPIPE, SIG_IGN)
        let code = AttestWorker.main(Array(CommandLine.arguments.dropFirst()))
        // Skips the handlers of `exit`: they would free OpenSSL's tables while a lane still uses them for a batch that
        // is left to the next worker, or while a call that was given up does.
        fflush(nil)
        _exit(code)
    }
}
