/// librdkafka's message of a connection that failed, such as `b1:9092/1: Connect to ipv4#10.0.0.1:9092 failed: Connection
/// refused (after 0ms in state CONNECT, 2 identical error(s) suppressed)`, in two parts.
package struct ConnectionWords {
    /// Such as `b1:9092`; nil = the message names none.
    package let broker: String?
    /// Such as `Connection refused`.
    package let reason: String

    /// One line for who waits.
    package var waiting: String { "waiting for the broker\(broker.map { " \($0)" } ?? ""): \(reason)" }

    package init(_ message: String) {
        var text = message[...]
        if text.hasSuffix(")"), let note = text.firstRange(of: " (after ") { text = text[..<note.lowerBound] }
        var broker: String?
        // A coordinator's name may come before its address.
        while let colon = text.firstRange(of: ": "), case let name = text[..<colon.lowerBound],
            name.hasSuffix("Coordinator") || name.contains(":"), !name.contains(" ")
        {
            broker = String(name[..<(name.lastIndex(of: "/") ?? name.endIndex)])
            text = text[colon.upperBound...]
        }
        if text.hasPrefix("Connect to "), let end = text.firstRange(of: " failed: ") { text = text[end.upperBound...] }
        self.broker = broker
        reason = String(text)
    }
}
