internal import Glibc

/// The name of this machine, as the kernel has it.
package enum HostName {
    /// Linux allows 64 bytes.
    private static let maxBytes = 256

    package static var current: String {
        var name = [CChar](repeating: 0, count: maxBytes)
        // One byte stays free for the terminating zero.
        guard unsafe gethostname(&name, maxBytes - 1) == 0 else { return "localhost" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
