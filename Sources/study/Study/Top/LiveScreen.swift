internal import Glibc
internal import Settings
internal import Telemetry
internal import Threads

/// A terminal's other screen, drawn over and over. The lines of before come back when it is closed, from any thread.
package final class LiveScreen: Sendable {
    private static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    private static let leave = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private let isOpen = Locked<Bool>(false)
    private let write: @Sendable ([UInt8]) throws -> Void

    /// - Parameter write: to the terminal.
    package init(write: @escaping @Sendable ([UInt8]) throws -> Void = { try Descriptor.write($0, to: STDOUT_FILENO) })
    {
        self.write = write
    }

    /// - Throws: where the terminal is gone, as ``draw(_:)`` does.
    package func open() throws {
        isOpen.withLock { $0 = true }
        try put(Self.enter)
    }

    /// Draws lines from the top; nothing once the screen is closed.
    package func draw(_ lines: [String]) throws {
        // The end of each line, and what is below the last, are cleared: no flicker, nothing left of before.
        try put("\u{1B}[H" + lines.map { $0.printable + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
    }

    package func close() {
        isOpen.withLock { isOpen in
            if isOpen { try? write(Array(Self.leave.utf8)) }
            isOpen = false
        }
    }

    private func put(_ text: String) throws {
        try isOpen.withLock { isOpen in Result { if isOpen { try write(Array(text.utf8)) } } }.get()
    }
}
