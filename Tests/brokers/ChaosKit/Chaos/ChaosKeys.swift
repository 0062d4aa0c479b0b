package import AppAttest
internal import AppCheck
internal import BrokerKit
package import Crypto
internal import Settings

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

    /// - Parameter directory: a config directory with a key of each kind, RS256 the tokens' one.
    package init(_ directory: String) throws {
        let rings = try LoadedConfiguration.load(directory: directory).keys.rings
        guard let challenge = rings.challenges.active, let seal = rings.sealing.active,
            let token = rings.tokens.active(.rs256)
        else { throw ClusterFault(description: "\(directory) has not a key of each kind") }
        (challenges, sealing, tokens) = (challenge, seal, token)
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
