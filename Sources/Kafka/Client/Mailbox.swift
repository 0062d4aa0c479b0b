internal import Synchronization

/// A text that the library's threads leave for the one thread that uses a client; the newest counts.
@safe
final class Mailbox: Sendable {
    private final class Letter: Sendable {
        let text: String
        init(_ text: String) { self.text = text }
    }

    private let slot = unsafe Atomic<Unmanaged<Letter>?>(nil)

    deinit { _ = take() }

    func leave(_ text: String) { _ = exchanged(Letter(text)) }

    func take() -> String? { exchanged(nil)?.text }

    private func exchanged(_ letter: Letter?) -> Letter? {
        // The exchange hands the old letter to one caller, which owns it.
        let new = unsafe letter.map { unsafe Unmanaged.passRetained($0) }
        return unsafe slot.exchange(new, ordering: .acquiringAndReleasing).map { unsafe $0.takeRetainedValue() }
    }
}
