internal import Glibc

/// The terminal of standard error.
package enum Terminal {
    /// nil where standard error is not a terminal, or does not tell its width.
    package static var columns: Int? {
        var size = winsize()
        // The structure lives on this stack, and the call does not keep it.
        guard unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// The size of standard output's terminal; where it tells none, the usual one.
    package static var size: (columns: Int, rows: Int) {
        var size = winsize()
        // The structure lives on this stack, and the call does not keep it.
        let isKnown = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        return isKnown ? (Int(size.ws_col), Int(size.ws_row)) : (80, 24)
    }

    /// Whether a line may be drawn there: the process is not in the background. A terminal that is not the session's own
    /// has no background.
    package static var isOurs: Bool {
        let group = tcgetpgrp(STDERR_FILENO)
        return group == -1 || group == getpgrp()
    }

    /// A line that fits: one that wraps would not be overwritten by the next.
    package static func cut(_ line: String, columns: Int? = Self.columns) -> String {
        guard let columns, line.count >= columns else { return line }
        return columns > 1 ? line.prefix(columns - 2) + "…" : ""
    }
}
