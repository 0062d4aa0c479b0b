internal import AppAttest
internal import Crypto

/// The Apple App IDs and environments that objects presented, by the app that they were sent to.
struct PresentedAppIDs {
    struct Key: Hashable {
        let app: Int
        /// SHA-256 of the App ID; nil in what could not be read.
        let appID: Digest?
        /// nil in assertions of unknown keys, and in what could not be read.
        let environment: Environment?
    }

    private let most: Int
    private(set) var counts: [Key: (accepted: Int, refused: Int)] = [:]
    /// Records of keys beyond the table.
    private(set) var rest = (accepted: 0, refused: 0)
    /// The App IDs in clear by their hash, where attestations say them.
    private(set) var names: [Digest: ExactText] = [:]

    init(most: Int = 4096) { self.most = most }

    /// - Parameter name: what the key's hash stands for.
    mutating func add(_ key: Key, name: ExactText? = nil, isAccepted: Bool) {
        if let hash = key.appID, let name, names.count < most { names[hash] = name }
        guard counts[key] != nil || counts.count < most else {
            if isAccepted { rest.accepted += 1 } else { rest.refused += 1 }
            return
        }
        if isAccepted {
            counts[key, default: (0, 0)].accepted += 1
        } else {
            counts[key, default: (0, 0)].refused += 1
        }
    }
}
