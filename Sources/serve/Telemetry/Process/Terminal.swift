internal import Glibc

/// The terminal of standard error.
package enum Terminal {
    /// nil where standard error is not a terminal, or does not tell its width.
    package static var columns: Int? { size(of: STDERR_FILENO).map { Int($0.ws_col) } }

    /// The size of standard output's terminal; where it tells none, the usual one.
    package static var size: (columns: Int, rows: Int) {
        guard let size = size(of: STDOUT_FILENO), size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    private static func size(of file: Int32) -> winsize? {
        var size = winsize()
        // The structure lives on this stack, and the call does not keep it.
        return unsafe ioctl(file, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? size : nil
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
