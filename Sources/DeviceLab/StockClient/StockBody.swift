internal import JSON

/// The SDKs' request bodies: snake_case, standard padded base64 in which `/` is escaped as NSJSONSerialization does,
/// and members in no reliable order.
package struct StockBody {
    private var members: [[UInt8]] = []

    package init() {}

    /// - Parameter name: snake_case.
    package mutating func add(_ name: String, base64 bytes: [UInt8]) {
        let text = Base64.encode(bytes).flatMap { byte in
            byte == UInt8(ascii: "/") ? [UInt8(ascii: "\\"), byte] : [byte]
        }
        members.append(Array("\"\(name)\":\"".utf8) + text + [UInt8(ascii: "\"")])
    }

    /// - Parameter text: ASCII without quotes and backslashes, as a JWT is.
    package mutating func add(_ name: String, text: [UInt8]) {
        members.append(Array("\"\(name)\":\"".utf8) + text + [UInt8(ascii: "\"")])
    }

    package mutating func add(_ name: String, _ flag: Bool) { members.append(Array("\"\(name)\":\(flag)".utf8)) }

    /// - Parameter random: gives the order.
    package func bytes(using random: inout SeededRandom) -> [UInt8] {
        let shuffled = members.shuffled(using: &random)
        return [UInt8(ascii: "{")] + Array(shuffled.joined(separator: [UInt8(ascii: ",")])) + [UInt8(ascii: "}")]
    }
}
