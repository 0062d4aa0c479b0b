import Foundation
import TestKit

/// The golden facts of Google's contract as Foundation reads them: answers are compared with another parser than ours.
enum Contract {
    static let root: Node = {
        let file = PackageFolder.url.appending(path: "Tests/world/TestKit/firebase-contract.json")
        guard let data = try? Data(contentsOf: file), let object = try? JSONSerialization.jsonObject(with: data) else {
            return Node(value: nil)
        }
        return Node(value: object)
    }()

    /// A value of the file; a missing one gives empty answers. The parsed objects are never changed.
    struct Node: @unchecked Sendable {
        let value: Any?

        subscript(name: String) -> Node { Node(value: (value as? [String: Any])?[name]) }
        var string: String { value as? String ?? "" }
        var strings: [String] { value as? [String] ?? [] }
        var integer: Int64 { (value as? NSNumber)?.int64Value ?? .min }
        var elements: [Node] { (value as? [Any] ?? []).map { Node(value: $0) } }
        var names: [String] { (value as? [String: Any] ?? [:]).keys.sorted() }
        var bool: Bool? { value as? Bool }
        var hex: [UInt8] { WycheproofVectors.bytes(hex: string) }
        var base64: [UInt8] { Data(base64Encoded: string).map { [UInt8]($0) } ?? [] }

        /// Whether `json` says the same, whatever the order of its members.
        func says(_ json: [UInt8]) -> Bool {
            guard let value = value as? NSObject,
                let other = try? JSONSerialization.jsonObject(with: Data(json)) as? NSObject
            else { return false }
            return value == other
        }
    }
}
