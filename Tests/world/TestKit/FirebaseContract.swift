internal import Foundation
package import JSON

/// The golden facts of the App Check contract: firebase-contract.json, which lies beside this file.
package enum FirebaseContract {
    /// The whole document; nil if the file is missing or not JSON.
    package static let root: JSONNode? = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "firebase-contract.json")
        guard let data = try? Data(contentsOf: file) else { return nil }
        return try? JSONDocument(parsing: [UInt8](data)).root
    }()

    /// The value under these member names, from the root.
    package static func node(_ path: StaticString...) -> JSONNode? {
        path.reduce(root) { node, name in node?[name] }
    }

    package static func text(_ node: JSONNode?, _ name: StaticString) -> String? { node?[name]?.string }
}
