internal import Dispatch
internal import Glibc
internal import Synchronization
internal import Threads

/// SIGHUP: asks to read the configuration again.
package final class ReloadSignal: @unchecked Sendable {
    private let asked = Atomic<Bool>(false)
    private let source: any DispatchSourceSignal

    /// Made on the process's first thread, before any other starts: all threads leave the signal to the source.
    package init() {
        // A source starts listening only a moment after `activate` has returned: blocked, a signal waits for it.
        Shutdown.mask(SIG_BLOCK, [SIGHUP])
        source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: DispatchQueue(owner: "reload"))
        source.setEventHandler { [weak self] in self?.asked.store(true, ordering: .relaxed) }
        source.activate()
    }

    /// Asks as the signal does.
    func ask() { asked.store(true, ordering: .relaxed) }

    /// Whether the signal has come since the last call.
    package func take() -> Bool { asked.exchange(false, ordering: .relaxed) }

    /// Restores the signal's default action.
    package func cancel() {
        source.cancel()
        signal(SIGHUP, SIG_DFL)
        Shutdown.mask(SIG_UNBLOCK, [SIGHUP])
    }
}
