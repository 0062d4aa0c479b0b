internal import Synchronization

/// Files that a client reads when it is made, and never again: certificates, keys, authorities.
package enum ClientFiles {
    static let names = [
        "ssl.ca.location", "ssl.certificate.location", "ssl.key.location", "ssl.keystore.location", "ssl.crl.location",
    ]
    private static let renewals = Atomic(0)

    /// The paths of the files that clients with these properties read.
    package static func paths(_ properties: KafkaProperties) -> Set<String> { Set(names.compactMap { properties[$0] }) }

    /// Makes the clients outdated that exist: their files have been renewed.
    package static func noteRenewal() { renewals.wrappingAdd(1, ordering: .releasing) }

    /// How often files have been renewed.
    static var generation: Int { renewals.load(ordering: .acquiring) }
}
