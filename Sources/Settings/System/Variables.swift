internal import Glibc

/// The process's environment variables.
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
