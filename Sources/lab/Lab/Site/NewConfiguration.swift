internal import AppCheck
internal import CommandFrame
internal import Crypto
package import DeviceLab
internal import Glibc
internal import Run
internal import Settings

/// A config directory for fake devices: a lab authority whose root is the anchor, one project with one app, and a fresh
/// key of each kind.
package enum NewConfiguration {
    /// What a directory says of its broker.
    package struct Site {
        /// The beginning of the topics' names.
        var prefix = "appattest"
        /// Members of worker.json besides those of every directory, each with its comma.
        var members = ""
        /// kafka.properties.
        var kafka = """
            bootstrap.servers=localhost:9092
            group.id=attest-worker
            session.timeout.ms=10000
            max.poll.interval.ms=60000

            """
    }

    /// Makes the directory and its files.
    ///
    /// - Parameters:
    ///   - site: what it says of its broker.
    ///   - remedy: the advice if a configuration exists.
    ///   - mostServed: the greatest risk metric whose key is served; nil = no receipts are kept.
    /// - Returns: the names of the files, relative to the directory.
    /// - Throws: ``UsageFault`` if a configuration exists: it is never overwritten.
    @discardableResult
    package static func write(
        to directory: String,
        _ site: Site = Site(),
        remedy: String = "name another directory.",
        mostServed: UInt16? = nil
    ) throws -> [String] {
        let keys = try FreshKeys(algorithms: [.rs256], beside: nil)
        var lists = try KeyListEdit(Array(worker(site, hasReceipts: mostServed != nil).utf8))
        lists.add(keys)
        let ca = LabCA(secret: SHA256.hash(SecureRandom.bytes(32)))
        let files: [(name: String, content: [UInt8])] = [
            ("worker.json", lists.bytes),
            (keySetFile, keys.jsonWebKeySet + [0x0A]),
            ("apps.json", Array(apps(mostServed).utf8)),
            ("kafka.properties", Array(site.kafka.utf8)),
            (LabAnchors.authorityFile, ca.exported),
            ("anchors/lab-attestation-root.pem", ca.attestationAnchorPEM),
            ("anchors/lab-receipt-root.pem", ca.receiptAnchorPEM),
        ]
        for (name, _) in files {
            // The path is copied for the call.
            guard unsafe access("\(directory)/\(name)", F_OK) == 0 else { continue }
            throw UsageFault("\(directory)/\(name) already exists: \(remedy)")
        }
        try Folder.make("\(directory)/anchors")
        try keys.write(to: directory)
        for (name, content) in files {
            let path = "\(directory)/\(name)"
            // With the authority's secret anyone can make devices that are accepted here.
            guard name != LabAnchors.authorityFile else {
                try NewFile.create(path, content)
                continue
            }
            let file = try OutputFile(path)
            try file.write(content)
            try file.close()
        }
        return files.map(\.name) + keys.files
    }

    /// The authority of a directory that `write` has made.
    package static func authority(of directory: String) throws -> LabCA {
        let path = "\(directory)/\(LabAnchors.authorityFile)"
        guard let bytes = try? WholeFile.read(path, most: maxAuthorityBytes) else {
            throw UsageFault("cannot read \(path): fake devices need it; make a directory with \(remake).")
        }
        do {
            return try LabCA(exported: bytes)
        } catch {
            throw UsageFault("\(path) is not a lab authority file: make a directory with \(remake).")
        }
    }

    /// More than its text has.
    private static let maxAuthorityBytes = 64 << 10
    private static let remake = "\(AttestWorker.name) new-config"

    private static let keySetFile = "jwks.json"

    private static func worker(_ site: Site, hasReceipts: Bool) -> String {
        """
        {
          \(site.members)"topics": {
            "requests": "\(site.prefix).requests",
            "results": "\(site.prefix).results",
            "tokens": "\(site.prefix).tokens",
            "events": "\(site.prefix).events",
            "deadLetters": "\(site.prefix).dead-letters",
            "ledger": "\(site.prefix).ledger"\(hasReceipts ? ",\n    \"receipts\": \"\(site.prefix).receipts\"" : "")
          },
          "anchors": {
            "attestation": ["anchors/lab-attestation-root.pem"],
            "receipt": ["anchors/lab-receipt-root.pem"]
          },
          "gateway": {
            "port": 8080,
            "metrics": {"port": 9465},
            "publicKeys": "\(keySetFile)"
          }
        }

        """
    }

    private static func apps(_ mostServed: UInt16?) -> String {
        let risk = mostServed.map { ",\n          \"risk\": {\"mode\": \"refuse\", \"above\": \($0)}" } ?? ""
        return """
            {
              "projects": [
                {
                  "number": "123456789012",
                  "id": "lab-project",
                  "apps": [
                    {
                      "appId": "1:123456789012:ios:0123456789abcdef",
                      "appleAppIds": ["ABCDE12345.com.example.app"],
                      "environments": ["production"],
                      "tokenAlgorithm": "RS256",
                      "rollout": {"mode": "off"}\(risk)
                    }
                  ]
                }
              ]
            }

            """
    }
}
