internal import Glibc

package enum Variables {
    /// - Returns: nil where the variable is not set.
    package static func value(_ name: String) -> String? {
        // The name is copied for the call, the value at once: no thread changes variables.
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// The values of the variables that are set.
    package static func values(_ names: String...) -> [String: String] {
        var values: [String: String] = [:]
        for name in names { values[name] = value(name) }
        return values
    }
}

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
