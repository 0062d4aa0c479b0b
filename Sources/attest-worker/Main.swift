internal import Foundation
internal import Worker

@main
struct Main {
    static func main() {
        // A reader that leaves shows as an error of the write: a worker must not die of a closed standard error.
        _ = signal(SIGPIPE, SIG_IGN)
        let code = AttestWorker.main(Array(CommandLine.arguments.dropFirst()))
        // Without the handlers of `exit`: they would take OpenSSL's tables from under a lane whose batch is left to the next
        // worker, or from under a call that was given up.
        fflush(nil)
        _exit(code)
    }
}
