/// The kind of client that a setting is for.
package enum ClientKind: Sendable, CaseIterable {
    case consumer, producer
}
