internal import Dispatch
internal import Glibc
internal import Synchronization
internal import Threads

/// SIGTERM and SIGINT: the first asks for a graceful end, the second ends the process at once.
package final class Shutdown: @unchecked Sendable {
    private static let signals = [SIGTERM, SIGINT]
    /// A shell's exit code for a process that a signal ended: 128 and the signal's number.
    private static let signalled: Int32 = 128

    private let queue = DispatchQueue(owner: "signals")
    private var owner = Owner("Shutdown")
    private var sources: [any DispatchSourceSignal] = [] { willSet { owner.check() } }
    private let asked = Atomic<Bool>(false)

    /// Made on the process's first thread: it and all threads that it starts later leave the signals to the sources.
    ///
    /// - Parameter request: called once, on the first signal, on a queue of its own.
    package init(request: @escaping @Sendable (Shutdown) -> Void) {
        // A source listens only a moment after `activate` has returned: blocked, a signal waits and is not lost.
        Self.mask(SIG_BLOCK, Self.signals)
        for number in Self.signals {
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [weak self] in
                guard let self else { return }
                // At once: an orderly exit could wait for the thread that hangs.
                if asked.exchange(true, ordering: .relaxed) { _exit(Self.signalled + number) }
                request(self)
            }
            source.activate()
            queue.sync { sources.append(source) }
        }
    }

    /// Ends the process when an orderly end takes too long, as happens when a broker accepts a call and does not
    /// answer. The next owner repeats what was not committed, so nothing is lost.
    ///
    /// - Parameter tell: called before the end.
    package func limit(seconds: Double, tell: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + seconds) { [weak self] in
            // Gone or cancelled: the process is ending in order.
            guard let self, !sources.isEmpty else { return }
            tell()
            _exit(1)
        }
    }

    /// Restores the signals' default actions.
    package func cancel() {
        queue.sync {
            for source in sources { source.cancel() }
            sources = []
        }
        for number in Self.signals { signal(number, SIG_DFL) }
        Self.mask(SIG_UNBLOCK, Self.signals)
    }

    /// Blocks signals on this thread and those that it starts later, or takes them again.
    static func mask(_ how: Int32, _ signals: [Int32]) {
        var set = sigset_t()
        // The set lives on this stack, and no call keeps it.
        unsafe sigemptyset(&set)
        for number in signals { unsafe sigaddset(&set, number) }
        unsafe pthread_sigmask(how, &set, nil)
    }
}
