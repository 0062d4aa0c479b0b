internal import CRdkafka

/// Which settings librdkafka keeps for consumers or for producers only.
///
/// One kafka.properties serves both; a client that gets the other's settings logs a warning for each.
enum PropertyScopes {
    private static let consumerOnly = names(marked: "C")
    private static let producerOnly = names(marked: "P")

    static func applies(_ name: String, to kind: ClientKind) -> Bool {
        switch kind {
        case .consumer: !producerOnly.contains(name)
        case .producer: !consumerOnly.contains(name)
        }
    }

    /// Names from the library's own table, `name | C/P | …`.
    private static func names(marked mark: String) -> Set<String> {
        var names: Set<String> = []
        for line in table().split(separator: "\n") {
            let columns = line.split(separator: "|", maxSplits: 2, omittingEmptySubsequences: false)
            guard columns.count == 3, columns[1].filter({ $0 != " " }) == mark else { continue }
            names.insert(String(columns[0].filter { $0 != " " }))
        }
        return names
    }

    private static func table() -> String {
        var start: UnsafeMutablePointer<CChar>?
        var size = 0
        // The stream owns the buffer while it is open; after fclose it is ours to free.
        guard let stream = unsafe open_memstream(&start, &size) else { return "" }
        unsafe rd_kafka_conf_properties_show(stream)
        unsafe fclose(stream)
        guard let start = unsafe start else { return "" }
        defer { unsafe free(start) }
        return unsafe String(cString: start)
    }
}
