internal import CRdkafka
package import KafkaPorts

/// librdkafka's settings as ordered pairs; of two with one name the later one counts.
package struct KafkaProperties: Sendable, Equatable {
    package struct Pair: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    /// The command that prints OAuth tokens: a property of this program, which the library does not know.
    package static let tokenCommand = "sasl.oauthbearer.token.command"

    package private(set) var pairs: [Pair] = []

    package init(_ pairs: [(String, String)] = []) {
        for (name, value) in pairs { self[name] = value }
    }

    /// The value set last; setting one replaces it in place, nil removes it.
    package subscript(name: String) -> String? {
        get { pairs.last { $0.name == name }?.value }
        set {
            let index = pairs.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): pairs[index] = Pair(name: name, value: value)
            case (let index?, nil): pairs.remove(at: index)
            case (nil, let value?): pairs.append(Pair(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The same for a client that asks no broker: what contradicts itself does so without one.
    package var withoutBrokers: KafkaProperties {
        var own = completed(defaults: [("log_level", "0")])
        for name in ["bootstrap.servers", "metadata.broker.list", "group.instance.id"] { own[name] = nil }
        return own
    }

    /// These settings over `defaults`, and `forced` over both.
    package func completed(defaults: [(String, String)], forced: [(String, String)] = []) -> KafkaProperties {
        var result = KafkaProperties(defaults)
        for pair in pairs { result[pair.name] = pair.value }
        for (name, value) in forced { result[name] = value }
        return result
    }

    /// Why a client would refuse a setting, or take another value than the written one; nil = it is in order. Settings
    /// together, and the files that they name, are judged when a client is made.
    package static func complaint(about name: String, _ value: String) -> String? {
        if name == Self.tokenCommand {
            return value.hasPrefix("/") ? nil : "must begin with the whole path of a program: no shell looks for it"
        }
        // As in makeConfiguration(for:); it is destroyed here.
        guard let configuration = unsafe rd_kafka_conf_new() else { return "out of memory" }
        defer { unsafe rd_kafka_conf_destroy(configuration) }
        return unsafe set(Pair(name: name, value: value), in: configuration)
    }

    /// Checks every name and value with the library.
    ///
    /// - Throws: a ``KafkaFault`` that names the first property the library refuses.
    package func validate() throws(KafkaFault) {
        // Only this function has this configuration; it is destroyed here.
        let configuration = try unsafe makeConfiguration(for: nil)
        unsafe rd_kafka_conf_destroy(configuration)
    }
}

extension KafkaProperties {
    /// A configuration object that the caller owns. Settings for the other kind of client are left out.
    func makeConfiguration(for kind: ClientKind?) throws(KafkaFault) -> OpaquePointer {
        // The library aborts the process rather than return null here.
        guard let configuration = unsafe rd_kafka_conf_new() else { throw .fatal("out of memory") }
        let pairs = completed(defaults: LibraryVersion.current.defaults).pairs
        for pair in pairs where kind.map({ PropertyTable.applies(pair.name, to: $0) }) ?? true {
            if pair.name == Self.tokenCommand { continue }
            if let complaint = unsafe Self.set(pair, in: configuration) {
                unsafe rd_kafka_conf_destroy(configuration)
                throw .invalid("kafka property \(pair.name): \(complaint)")
            }
        }
        return unsafe configuration
    }

    /// Sets one pair and returns the library's error text, if there is one.
    private static func set(_ pair: Pair, in configuration: OpaquePointer) -> String? {
        // A C string would end at the zero byte, and another value than the written one would be set.
        guard !pair.name.utf8.contains(0), !pair.value.utf8.contains(0) else { return "contains a zero byte" }
        let row = PropertyTable.row(of: pair.name)
        if let complaint = row.flatMap({ NumberText.complaint(about: pair.value, of: $0) }) { return complaint }
        let (result, text) = unsafe libraryText {
            unsafe rd_kafka_conf_set(configuration, pair.name, pair.value, $0, $1)
        }
        return result == RD_KAFKA_CONF_OK ? nil : text
    }
}

/// The kind of client that a setting is for.
package enum ClientKind: Sendable, CaseIterable {
    case consumer, producer
}
