/// What clients may use of a server, however slow, broken or many they are.
package struct HTTPLimits: Sendable, Equatable {
    /// Open connections; more wait in the kernel's queue. Below 128 events at once, which the library's own loop would
    /// leave until the next one.
    package var connections: UInt32 = 120
    /// Open connections of one address; more are closed at once.
    package var connectionsPerAddress: UInt32 = 64
    /// A connection that is silent for so long is closed.
    package var timeoutSeconds: UInt32 = 10
    /// Memory of one connection: a request with longer headers is refused with 431.
    package var memoryPerConnection = 16_384

    package init() {}
}
