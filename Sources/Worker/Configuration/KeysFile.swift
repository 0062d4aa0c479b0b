package import AppAttest
package import Crypto
internal import JSON

/// One key of a KEYS file: import-keys writes it into the ledger, export-keys reads it out.
package struct ImportedKey: Sendable, Equatable {
    /// The key's last accepted request; times in seconds since 1970.
    package struct LastRequest: Sendable, Equatable {
        /// The verdict of a request that counts.
        static let accepted = "accepted"

        package var id: String
        package var valueSHA256: Digest
        package var verdict: String
        package var issuedAt: Int64?
        package var expiresAt: Int64?

        package init(id: String, valueSHA256: Digest, verdict: String, issuedAt: Int64? = nil, expiresAt: Int64? = nil)
        {
            self.id = id
            self.valueSHA256 = valueSHA256
            self.verdict = verdict
            self.issuedAt = issuedAt
            self.expiresAt = expiresAt
        }
    }

    package var keyID: KeyID
    /// The file's bytes: 65 for a usable point, but an unusable one is kept.
    package var publicKeyBytes: [UInt8]
    package var appleAppID: String
    package var environment: Environment
    package var counter: UInt32
    /// `projects/{number}/apps/{appId}`; nil = the first accepted request binds the key.
    package var app: String?
    package var nonce: Digest?
    /// When the leaf of the attestation with that nonce was issued.
    package var issued: IssueTime?
    package var lastRequest: LastRequest?

    package init(
        keyID: KeyID,
        publicKeyBytes: [UInt8],
        appleAppID: String,
        environment: Environment,
        counter: UInt32,
        app: String? = nil,
        nonce: Digest? = nil,
        issued: IssueTime? = nil,
        lastRequest: LastRequest? = nil
    ) {
        self.keyID = keyID
        self.publicKeyBytes = publicKeyBytes
        self.appleAppID = appleAppID
        self.environment = environment
        self.counter = counter
        self.app = app
        self.nonce = nonce
        self.issued = issued
        self.lastRequest = lastRequest
    }
}

/// KEYS files: a JSON object per line.
package enum KeysFile {
    /// Calls `body` with each key of the file in order, one line in memory at a time.
    ///
    /// - Parameter path: a file, or `-` for standard input. Empty lines are skipped.
    /// - Throws: ``CommandFault`` naming the line that cannot be read, or the error of `body`.
    package static func read(_ path: String, _ body: (ImportedKey) throws -> Void) throws {
        let lines = try LineReader(path: path)
        while let line = try lines.next() {
            let key: ImportedKey
            do throws(Fault) { key = try decode(line) } catch {
                throw CommandFault("\(path): line \(lines.lineNumber): \(error.reason); fix or remove the line.")
            }
            try body(key)
        }
    }

    /// Why a line cannot be read.
    package struct Fault: Error, Equatable, Sendable {
        package let reason: String

        package init(reason: String) { self.reason = reason }
    }

    /// Longer than any key's line, and short enough for one record of the ledger topic.
    static let maxLineBytes = 65_536

    /// Reads one line (without its newline).
    package static func decode(_ line: [UInt8]) throws(Fault) -> ImportedKey {
        guard line.count <= maxLineBytes else { throw Fault(reason: "it is longer than \(maxLineBytes) bytes") }
        return try KeyLine.decode(line)
    }

    /// Appends one line and a newline.
    package static func encode(_ key: ImportedKey, into output: inout [UInt8]) {
        var buffer: [UInt8] = []
        swap(&buffer, &output)
        var writer = JSONWriter(appendingTo: buffer)
        buffer = []
        KeyLine.encode(key, into: &writer)
        output = writer.takeBytes()
    }
}
