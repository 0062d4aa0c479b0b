internal import AppAttest
internal import Crypto

/// Readings of names: the key ID, the App ID and the environment that the request or the app's entry states.
extension Reading {
    static let ofNames = ofKeyID + ofAppID + ofEnvironment

    private static let ofKeyID: [Reading] = [
        keyID("key-id-of-text", "The key ID is the SHA-256 of its own text: send what generateKey returned.") { key in
            let own = key.digest.bytes
            return (TextForms.base64(own) + TextForms.hex(own) + [own]).map { SHA256.hash($0) }
        },
        keyID("key-id-of-other-form", "The key ID is the SHA-256 of another form of the key: hash its point.") { key in
            let (x, y) = (key.x.bytes, key.y.bytes)
            let parity: UInt8 = (y.last ?? 0) & 1
            let forms = [x + y, [0x02 | parity] + x, spkiHead + key.x963, x]
            return forms.map { SHA256.hash($0) }
        },
        Reading(
            "key-id-of-other-key",
            [.keyIDMismatch],
            "The key ID belongs to another key that is known: the app sent a stored one with a new key.",
            { refused in
                guard refused.isKeyKnown else { return [] }
                return [withOwnKeyID(refused.input)]
            }
        ),
    ]

    /// The SubjectPublicKeyInfo of a point of P-256 up to the point.
    private static let spkiHead: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    private static let ofAppID: [Reading] = [
        appID("app-id-letter-case", "The App ID is listed in other letters: list $.") { refused, listed in
            let small = Set(listed.map { ExactText($0.lowercased()) })
            let spelled = listed.flatMap { [$0.lowercased(), $0.uppercased()] }
            return refused.appIDs.filter { small.contains(ExactText($0.lowercased())) } + spelled
        },
        appID("app-id-without-prefix", "The App ID is $ here: a prefix is missing on one side.") { refused, listed in
            let texts = Set(listed.map { ExactText($0) })
            return refused.appIDs.filter { texts.contains(ExactText(bundleID($0))) } + listed.map(bundleID)
        },
        appID("app-id-other-prefix", "Another team signs this app: its App ID is $.") { refused, listed in
            let bundles = Set(listed.map { ExactText(bundleID($0)) })
            return refused.appIDs.filter { bundles.contains(ExactText(bundleID($0))) }
        },
        appID("app-id-of-extension", "The object comes from a part of the app: list $ too.") { refused, listed in
            let parts = listed.flatMap { id in extensions.map { id + $0 } }
            return refused.appIDs.filter { id in listed.contains { id.utf8.starts(with: "\($0).".utf8) } } + parts
        },
        appID("app-id-of-other-app", "The object is of another configured app, $: use its path.") { refused, _ in
            refused.knownAppIDs.map(\.text)
        },
    ]

    /// The endings that Xcode gives parts of an app whose objects do not name it in clear.
    private static let extensions = [".Clip", ".watchkitapp", ".watchkitapp.watchkitextension"]

    private static let ofEnvironment = [
        Reading(
            "development-object",
            [.environmentMismatch],
            "The key is of App Attest's development environment: set the entitlement "
                + "com.apple.developer.devicecheck.appattest-environment to production.",
            { environment(.development, $0) }
        ),
        Reading(
            "production-object",
            [.environmentMismatch],
            "The key is of App Attest's production environment: accept it here, or have the app sign for development.",
            { environment(.production, $0) }
        ),
    ]

    private static func environment(_ environment: Environment, _ refused: RefusedObject) -> [InspectedInput] {
        var changed = refused.input
        changed.arguments.expectations?.environments = [environment]
        return [changed]
    }

    /// - Parameter wrong: the key IDs that an app makes of this key by mistake.
    private static func keyID(
        _ name: String,
        _ sentence: String,
        _ wrong: @escaping @Sendable (P256PublicKey) -> [Digest]
    ) -> Reading {
        Reading(name, [.keyIDMismatch], sentence) { refused in
            guard case .base64(let bytes)? = refused.field("leaf.publicKey"), let key = P256PublicKey(x963: bytes),
                let presented = refused.input.arguments.keyID, wrong(key).contains(presented.digest)
            else { return [] }
            return [withOwnKeyID(refused.input)]
        }
    }

    private static func withOwnKeyID(_ input: InspectedInput) -> InspectedInput {
        var changed = input
        changed.arguments.keyID = nil
        return changed
    }

    /// - Parameter others: App IDs that may be the object's, given those that are listed.
    private static func appID(
        _ name: String,
        _ sentence: String,
        _ others: @escaping @Sendable (RefusedObject, _ listed: [String]) -> [String]
    ) -> Reading {
        Reading(name, [.appIDMismatch], sentence) { refused in
            guard case .bytes(let hash)? = refused.field("authData.rpIdHash"),
                let listed = refused.input.arguments.expectations?.appIDs.map(\.text)
            else { return [] }
            let found = others(refused, listed).lazy.map { AppID($0) }.first { $0.rpIDHash.bytes == hash }
            return found.map { appID in
                var changed = refused.input
                changed.arguments.expectations?.appIDs = [appID]
                return [changed]
            } ?? []
        }
    }

    /// An App ID without its prefix.
    private static func bundleID(_ appID: String) -> String {
        appID.firstIndex(of: ".").map { String(appID[appID.index(after: $0)...]) } ?? appID
    }
}

extension RefusedObject {
    /// The App IDs that the object may be of: the one that it names in clear, then those of all apps.
    fileprivate var appIDs: [String] {
        var appIDs = knownAppIDs.map(\.text)
        if case .text(let presented)? = field("authData.appId") { appIDs.insert(presented, at: 0) }
        return appIDs
    }
}
