package import Foundation
internal import TestKit

/// A certificate authority for tests, made with the `openssl` command: keys are P-256.
package struct TLSAuthority: Sendable {
    /// Who may use a certificate, and where.
    package enum Purpose: Sendable {
        /// For a broker at these places: `IP:127.0.0.1`, `DNS:localhost`.
        case broker(at: [String])
        /// A client's subject: `/O=Example/CN=worker`.
        case client(String)
    }

    package let folder: URL
    package var certificate: String { path("authority.pem") }

    /// - Parameter folder: made if it is missing; an authority that is there already is replaced.
    package init(folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(Self.configuration.utf8).write(to: folder.appending(path: "ca.conf"))
        try openssl(
            ["req", "-x509", "-config", "ca.conf", "-extensions", "root", "-days", "30", "-subj", "/CN=Test authority"]
                + Self.newKey("authority.key") + ["-out", "authority.pem"]
        )
    }

    /// Signs a certificate for a fresh key and replaces the files of that name, each of them at once.
    ///
    /// - Parameters:
    ///   - name: `NAME.pem` has the certificate, `NAME.key` the key as PKCS#8, and `NAME.both.pem` both.
    ///   - seconds: until it expires, from now on; it was valid for an hour already.
    ///   - password: encrypts `NAME.key`.
    package func issue(
        _ name: String,
        _ purpose: Purpose,
        seconds: TimeInterval = 86_400,
        password: String? = nil
    ) throws {
        let (subject, section) =
            switch purpose {
            case .broker(let places):
                ("/CN=broker", "extendedKeyUsage=serverAuth\nsubjectAltName=" + places.joined(separator: ","))
            case .client(let subject): (subject, "extendedKeyUsage=clientAuth")
            }
        for file in ["index.txt", "index.txt.attr"] { try Data().write(to: folder.appending(path: file)) }
        try Data(section.utf8).write(to: folder.appending(path: "extensions.conf"))
        try openssl(
            ["req", "-new", "-config", "ca.conf", "-subj", subject, "-out", "new.csr"] + Self.newKey("new.key")
        )
        try openssl(
            ["ca", "-batch", "-notext", "-config", "ca.conf", "-preserveDN", "-in", "new.csr"]
                + ["-extfile", "extensions.conf", "-startdate", Self.time(-3600), "-enddate", Self.time(seconds)]
                + ["-cert", "authority.pem", "-keyfile", "authority.key", "-out", "new.pem"]
        )
        try (text("new.pem") + text("new.key")).write(toFile: path("new.both.pem"), atomically: true, encoding: .utf8)
        if let password {
            try openssl(["pkcs8", "-topk8", "-in", "new.key", "-out", "new.closed", "-passout", "pass:\(password)"])
            try replace("new.key", by: "new.closed")
        }
        for ending in ["pem", "key", "both.pem"] { try replace("\(name).\(ending)", by: "new.\(ending)") }
    }

    package func path(_ name: String) -> String { folder.path + "/" + name }

    private func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

    private func replace(_ name: String, by other: String) throws {
        try? FileManager.default.removeItem(atPath: path(name))
        try FileManager.default.moveItem(atPath: path(other), toPath: path(name))
    }

    private func openssl(_ arguments: [String]) throws {
        guard let program = KafkaInstallation.executable("openssl") else {
            throw ClusterFault(description: "there is no openssl command")
        }
        // In the folder: `env` goes there first.
        let run = PythonLab.run(["--chdir", folder.path, program.path] + arguments)
        guard run.code == 0 else {
            throw ClusterFault(description: "openssl \(arguments.first ?? ""): \(run.error)")
        }
    }

    private static func newKey(_ file: String) -> [String] {
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout", file]
    }

    /// As `openssl ca` takes times: `20261123214500Z`.
    private static func time(_ seconds: TimeInterval) -> String {
        let time = Date(timeIntervalSince1970: Double(timeOfDay()) / 1_000 + seconds)
        let text = time.formatted(.iso8601)
        return text.filter { $0.isNumber } + "Z"
    }

    private static let configuration = """
        [req]
        distinguished_name = name
        [name]
        [root]
        basicConstraints = critical,CA:TRUE
        [ca]
        default_ca = authority
        [authority]
        database = index.txt
        new_certs_dir = .
        default_md = sha256
        policy = any
        unique_subject = no
        rand_serial = yes
        [any]
        organizationName = optional
        commonName = supplied

        """
}
