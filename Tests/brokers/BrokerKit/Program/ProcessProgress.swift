internal import Foundation
internal import TestKit

/// What changes while a process gets on: it writes, or it computes.
package struct ProcessProgress: Equatable {
    var written: UInt64
    /// Three seconds of a processor each: a process that only waits and looks takes minutes for one.
    var computed: Int

    /// - Parameters:
    ///   - process: nil = not known yet.
    ///   - files: what it writes to.
    init(of process: pid_t?, files: [String]) {
        let sizes = files.map { (try? FileManager.default.attributesOfItem(atPath: $0)[.size] as? UInt64) ?? 0 }
        written = sizes.reduce(0, +)
        computed = process.map { Self.ticks($0) / 300 } ?? 0
    }

    /// Waits until a process has stopped after SIGSTOP.
    package static func waitForStop(of process: Int32, seconds: Int = 30) -> Bool {
        eventually(seconds: seconds) {
            (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8))?.contains("T (stopped)") ?? false
        } until: {
            $0
        }
    }

    /// Hundredths of a second that a process has computed; 0 when it has ended.
    private static func ticks(_ process: pid_t) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        // The name in parentheses may have blanks.
        let fields = text.drop { $0 != ")" }.split(separator: " ")
        return fields.count > 13 ? (Int(fields[12]) ?? 0) + (Int(fields[13]) ?? 0) : 0
    }
}
