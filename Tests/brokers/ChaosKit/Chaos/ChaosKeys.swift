package import AppAttest
internal import AppCheck
package import Crypto
internal import Foundation
internal import JSON

/// A configuration's exchange keys in the hands of fake devices: anything sealed with them is as good as what a
/// worker has answered.
package struct ChaosKeys: Sendable {
    /// As `new-config` names the project and its app.
    package static let projectNumber = "123456789012"
    package static let projectID = "lab-project"
    package static let appID = "1:123456789012:ios:0123456789abcdef"
    package static let appleAppID = "ABCDE12345.com.example.app"
    package static let app = "projects/\(projectNumber)/apps/\(appID)"
    package static let resource = "projects/\(projectID)/apps/\(appID)"

    private let challenges: ChallengeKey
    private let sealing: SealingKey
    private let tokens: TokenKey

    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameter directory: a config directory with a key of each kind, RS256 the tokens' one.
    package init(_ directory: String) throws {
        let worker = try [UInt8](Data(contentsOf: URL(filePath: directory + "/worker.json")))
        let root = try JSONDocument(parsing: worker).root
        func file(_ entry: JSONNode) throws -> [UInt8] {
            guard let name = entry["file"]?.string else { throw Missing(description: "a key without a file") }
            return try [UInt8](Data(contentsOf: URL(filePath: "\(directory)/\(name)")))
        }
        func ring<Key: SecretKey>(_ list: JSONNode?) throws -> SecretRing<Key> {
            try SecretRing(
                (list?.elements ?? []).map { entry in
                    let line = try file(entry).filter { $0 != 0x0A }
                    return NamedSecret(id: entry["id"]?.string ?? "", secret: Secret(Base64.decode(line) ?? []))
                }
            )
        }
        let (challenges, sealing): (ChallengeKeyRing, SealingKeyRing) = (
            try ring(root["challenges"]?["keys"]), try ring(root["sealingKeys"])
        )
        guard let challenge = challenges.active, let seal = sealing.active,
            let entry = root["signingKeys"]?.elements.first, let kid = entry["kid"]?.string
        else { throw Missing(description: "\(directory) has not a key of each kind") }
        self.challenges = challenge
        self.sealing = seal
        tokens = try TokenKey(kid: kid, algorithm: .rs256, key: SigningKey(pem: file(entry)))
    }

    /// Gives the challenges of a configuration another life; workers that run already do not see it.
    package static func setChallengeLife(_ directory: String, seconds: Int) throws {
        let path = URL(filePath: directory + "/worker.json")
        let text = try String(contentsOf: path, encoding: .utf8)
        let changed = text.replacingOccurrences(
            of: "\"challenges\": {",
            with: "\"challenges\": {\"ttl\": \"\(seconds)s\", "
        )
        guard changed != text else { throw Missing(description: "\(directory) says nothing of challenges") }
        try Data(changed.utf8).write(to: path)
    }

    /// - Parameter random: 16 bytes.
    package func challenge(issuedAt: EvaluationTime, random: [UInt8]) -> [UInt8] {
        challenges.seal(app: Self.app, issuedAt: issuedAt, random: random)
    }

    package func artifact(_ publicKey: P256PublicKey, _ environment: Environment, at time: EvaluationTime) -> [UInt8] {
        sealing.seal(
            Artifact(
                publicKey: publicKey,
                app: Self.app,
                appleAppID: Self.appleAppID,
                environment: environment,
                registeredAt: time
            )
        )
    }

    /// A limited-use token.
    ///
    /// - Parameter expiresAt: seconds since 1970.
    package func token(_ id: String, expiresAt: Int64) -> [UInt8] {
        let claims = TokenClaims(
            subject: Self.appID,
            projectNumber: Self.projectNumber,
            projectID: Self.projectID,
            issuedAt: expiresAt - TokenClaims.limitedUseSeconds,
            expiresAt: expiresAt,
            id: id
        )
        return TokenMinter.mint(claims, with: tokens)
    }
}
