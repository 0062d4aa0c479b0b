import BrokerKit
import Foundation
import TestKit
import Testing

/// A worker's configuration for a cluster's TLS listeners: the TLS page's example with this cluster's ports and
/// this test's files.
struct TLSFixture {
    /// The ways in, by the first words of the page's examples.
    enum Way: String, CaseIterable {
        case tls = "TLS"
        case mutual = "Mutual TLS"
        case password = "A password over TLS"
        case token = "OAuth for trials"
        case fetchedToken = "OAuth: tokens of a token endpoint"
    }

    static let password = "right-7f3a"
    static let keyPassword = "opens-91bd"
    static let secrets = [password, keyPassword, "wrong-55e0", "shut-2c44", "oauth-08aa"]

    let cluster: RealCluster
    let tls: ClusterTLS
    /// What the page's `${file:NAME}` stands for.
    private let secretFiles = [
        "worker-key-password": keyPassword, "kafka-password": password, "oauth-secret": "oauth-08aa",
    ]

    init() throws {
        cluster = try #require(RealClusterTrait.cluster)
        tls = try #require(cluster.tls)
        let authority = tls.authority
        if !FileManager.default.fileExists(atPath: authority.path("worker.pem")) {
            try authority.issue("worker", .client("/O=Example/CN=worker"), password: Self.keyPassword)
            let copy = authority.path("kafka-authority.pem")
            try FileManager.default.copyItem(atPath: authority.certificate, toPath: copy)
        }
    }

    func path(_ name: String) -> String { tls.authority.path(name) }

    /// A configuration beside the workplace's own, for a worker of its own.
    ///
    /// - Parameters:
    ///   - changes: of the page's lines; an empty value takes a line out.
    ///   - files: beside kafka.properties, over those of the page.
    func configuration(
        _ name: String,
        _ way: Way,
        _ workplace: ProgramWorkplace,
        _ changes: [String: String] = [:],
        files: [String: String] = [:]
    ) throws -> String {
        let directory = try workplace.copyConfig(as: name)
        for (file, text) in secretFiles.merging(files, uniquingKeysWith: { $1 }) {
            try workplace.write(text + "\n", to: "\(name)/\(file)")
        }
        var lines = try PageBlocks.tls(way.rawValue).map(filled)
        for (name, value) in changes {
            lines.removeAll { $0.hasPrefix(name + "=") }
            if !value.isEmpty { lines.append("\(name)=\(value)") }
        }
        try workplace.rewrite("kafka.properties", of: name) { own in
            let kept = own.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("bootstrap.servers=") }
            return (kept + lines).joined(separator: "\n")
        }
        return directory
    }

    private func filled(_ line: String) -> String {
        line.replacing("kafka-1.example.com:9093", with: tls.servers)
            .replacing("kafka-1.example.com:9094", with: tls.mutualServers)
            .replacing("kafka-1.example.com:9095", with: tls.saslServers)
            .replacing("/etc/attest-worker", with: tls.authority.folder.path)
    }
}

extension ProgramProcess {
    /// Whether neither stream has a secret of the fixture's.
    var keepsSecrets: Bool {
        let said = output + error
        return !TLSFixture.secrets.contains(where: said.contains) && !said.contains("PRIVATE KEY")
    }

    var lastLine: String { error.split(separator: "\n").last.map(String.init) ?? "" }
}
