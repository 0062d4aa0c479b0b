/// Size limits of a request, in bytes, and of the state remembered about requests; configurable.
package struct RequestLimits: Sendable, Equatable {
    package var valueBytes = 65_536
    package var headerBytes = 8_192
    package var clientDataBytes = 32_768
    package var clientDataHashBytes = 1_024
    package var requestIDBytes = 128
    /// Ids of used tokens that a partition may remember; above that, session tokens are refused. About 200 bytes each.
    package var sessionTokens = 1_000_000
    package init() {}
}
