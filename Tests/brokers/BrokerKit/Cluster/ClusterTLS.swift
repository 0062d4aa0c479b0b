package import Foundation

/// The TLS listeners of a cluster, and who signs for them. Brokers read the files at their start.
package struct ClusterTLS: Sendable {
    /// Signs for brokers and clients.
    package let authority: TLSAuthority
    /// Clients are nameless, and may do everything.
    package let servers: String
    /// A client's name is its certificate's common name.
    package let mutualServers: String
    /// PLAIN with the cluster's users; OAUTHBEARER with tokens that need no signature.
    package let saslServers: String

    init(_ ports: [BrokerPorts], in folder: URL) throws {
        authority = try TLSAuthority(folder: folder)
        let addresses = { (port: (BrokerPorts) -> UInt16) in
            ports.map { "127.0.0.1:\(port($0))" }.joined(separator: ",")
        }
        (servers, mutualServers, saslServers) = (addresses(\.tls), addresses(\.mutual), addresses(\.saslTLS))
        try renew(seconds: 86_400)
        try authority.issue("broker", .broker(at: Self.places))
    }

    /// Replaces the certificate of the listener without names; a broker takes it at its next start.
    package func renew(seconds: TimeInterval) throws {
        try authority.issue("nameless", .broker(at: Self.places), seconds: seconds)
    }

    /// Not `localhost`, so that a client that uses that name must refuse the certificate.
    private static let places = ["IP:127.0.0.1"]

    /// The package of Kafka's login modules.
    static let security = "org.apache.kafka.common.security"

    /// - Parameter plain: the login module of PLAIN.
    func properties(_ plain: String) -> [(name: String, value: String)] {
        let sasl = "listener.name.sasltls"
        return [
            ("ssl.keystore.type", "PEM"), ("ssl.keystore.location", authority.path("broker.both.pem")),
            ("ssl.truststore.type", "PEM"), ("ssl.truststore.location", authority.certificate),
            ("listener.name.tls.ssl.keystore.type", "PEM"),
            ("listener.name.tls.ssl.keystore.location", authority.path("nameless.both.pem")),
            ("listener.name.mutual.ssl.client.auth", "required"),
            ("listener.name.mutual.ssl.principal.mapping.rules", "RULE:^CN=([^,]+).*$/$1/"),
            ("\(sasl).sasl.enabled.mechanisms", "PLAIN,OAUTHBEARER"),
            ("\(sasl).plain.sasl.jaas.config", plain),
            (
                "\(sasl).oauthbearer.sasl.jaas.config",
                "\(Self.security).oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=\"broker\";"
            ),
        ]
    }
}
