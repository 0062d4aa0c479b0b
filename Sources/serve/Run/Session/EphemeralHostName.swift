internal import Settings

/// Host names that a container gets at its start and loses with its end: no names for an instance.
enum EphemeralHostName {
    /// Files that container engines make.
    static let marks = ["/.dockerenv", "/run/.containerenv"]

    /// A warning for a name that will be another one after a restart; nil where there is no sign of it.
    ///
    /// - Parameters:
    ///   - isContainer: whether a container engine started this process.
    ///   - isPod: whether Kubernetes did.
    static func warning(host: String, isContainer: Bool, isPod: Bool) -> String? {
        guard isPod ? !isOrdinal(host) : isContainer && isEngineMade(host) else { return nil }
        return "the instance is named by this container, \(host.printable), and by another one after a restart: its "
            + "partitions then wait session.timeout.ms; set membership: dynamic in worker.json, or give --instance a "
            + "name that stays"
    }

    /// Twelve hexadecimal digits, as Docker and Podman name a container.
    private static func isEngineMade(_ host: String) -> Bool {
        host.utf8.count == 12 && host.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// A name with a number at its end, as a StatefulSet's pods keep it; other pods end in letters and digits.
    private static func isOrdinal(_ host: String) -> Bool {
        let parts = host.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count > 1, let last = parts.last else { return false }
        return !last.isEmpty && last.count < 5 && last.allSatisfy { (0x30...0x39).contains($0) }
    }
}
