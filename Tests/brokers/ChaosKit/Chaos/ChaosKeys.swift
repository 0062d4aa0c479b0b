internal import AppCheck
internal import BrokerKit
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

    let challenges: ChallengeKey
    let sealing: SealingKey
    let tokens: TokenKey

    /// - Parameter directory: a config directory with a key of each kind, RS256 the tokens' one.
    package init(_ directory: String) throws {
        let rings = try LoadedConfiguration.load(directory: directory).keys.rings
        guard let challenge = rings.challenges.active, let seal = rings.sealing.active,
            let token = rings.tokens.active(.rs256)
        else { throw ClusterFault(description: "\(directory) has not a key of each kind") }
        (challenges, sealing, tokens) = (challenge, seal, token)
    }
}
