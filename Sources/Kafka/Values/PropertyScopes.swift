/// Which settings librdkafka keeps for consumers or for producers only.
///
/// One kafka.properties serves both; a client that gets the other's settings logs a warning for each.
enum PropertyScopes {
    static func applies(_ name: String, to kind: ClientKind) -> Bool {
        switch kind {
        case .consumer: PropertyTable.rows[name]?.scope != "P"
        case .producer: PropertyTable.rows[name]?.scope != "C"
        }
    }
}
