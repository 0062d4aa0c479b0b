internal import AppAttest
internal import AppCheck
internal import Crypto
internal import JSON

/// worker.json with changed key lists. Everything else keeps its value and its place; white space does not.
package struct KeyListEdit {
    private var root: JSONTree

    /// - Parameter bytes: a worker.json from which a configuration was loaded.
    package init(_ bytes: [UInt8]) throws(CommandFault) {
        do throws(JSONFault) { root = JSONTree(try JSONDocument(parsing: bytes, maxNodes: bytes.count + 1).root) } catch
        {
            throw CommandFault("worker.json is no longer valid JSON: another process is writing it.")
        }
    }

    package var bytes: [UInt8] { Array(root.file.utf8) }

    /// Adds keys at the end of their lists, where they can be read with but make nothing new yet.
    package mutating func add(_ keys: FreshKeys) {
        append(keys.signing.map(\.json), to: ["signingKeys"])
        append(keys.sealing.map(\.json), to: ["sealingKeys"])
        append(keys.challenges.map(\.json), to: ["challenges", "keys"])
    }

    /// Puts a listed key into use: a signing key becomes active and the one before it published, a sealing or challenge
    /// key moves to the head of its list.
    ///
    /// - Returns: false where no key has that id.
    package mutating func activate(_ id: String) -> Bool {
        var signing = list(["signingKeys"])
        if let index = signing.firstIndex(where: { $0["kid"]?.text == id }) {
            let algorithm = signing[index]["algorithm"]?.text ?? "RS256"
            for other in signing.indices where (signing[other]["algorithm"]?.text ?? "RS256") == algorithm {
                let wasActive = signing[other]["state"]?.text ?? "active" == "active"
                if other == index { signing[other]["state"] = .string("active") }
                if other != index, wasActive { signing[other]["state"] = .string("published") }
            }
            assert(signing[index]["state"]?.text == "active", "the key is in use")
            set(signing, at: ["signingKeys"])
            assert(list(["signingKeys"]).count == signing.count, "no key is lost")
            return true
        }
        for path in [["sealingKeys"], ["challenges", "keys"]] {
            var keys = list(path)
            guard let index = keys.firstIndex(where: { $0["id"]?.text == id }) else { continue }
            keys.insert(keys.remove(at: index), at: 0)
            set(keys, at: path)
            assert(list(path).count == keys.count, "no key is lost")
            assert(list(path).first?["id"]?.text == id, "the key leads")
            return true
        }
        return false
    }

    private func list(_ path: [String]) -> [JSONTree] {
        path.reduce(root as JSONTree?) { $0?[$1] }?.elements ?? []
    }

    private mutating func append(_ keys: [JSONTree], to path: [String]) {
        if !keys.isEmpty { set(list(path) + keys, at: path) }
    }

    private mutating func set(_ keys: [JSONTree], at path: [String]) {
        guard path.count == 2 else { return root[path[0]] = .array(keys) }
        var object = root[path[0]] ?? .object([])
        object[path[1]] = .array(keys)
        root[path[0]] = object
    }
}

extension SigningKeyEntry {
    /// The entry as written in worker.json.
    package var line: String { json.line }

    fileprivate var json: JSONTree {
        guard let key else {
            return JSONTree(["kid": kid, "algorithm": algorithm.rawValue, "file": file, "state": state.rawValue])
        }
        var json = JSONTree(["kid": kid, "algorithm": algorithm.rawValue, "key": key.text])
        if !pin.isEmpty { json["pin"] = .string("${file:\(pin)}") }
        if let published { json["published"] = .string(TimeText.rfc3339(published.milliseconds)) }
        json["state"] = .string(state.rawValue)
        return json
    }
}

extension KeyEntry {
    package var line: String { json.line }

    fileprivate var json: JSONTree { JSONTree(["id": id, "file": file]) }
}
