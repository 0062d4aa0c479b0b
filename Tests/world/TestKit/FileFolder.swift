internal import Foundation
package import JSON
package import Pipeline
package import Streams

/// What has a folder of files.
package protocol FileFolder {
    var path: String { get }
}

extension FileFolder {
    package func file(_ name: String) -> String { path + "/" + name }

    package func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: file(name)))) }

    package func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

    package func json(_ name: String) throws -> JSONNode { try JSONDocument(parsing: bytes(name)).root }

    /// The JSON of each line.
    package func jsonLines(_ name: String) throws -> [JSONNode] {
        try bytes(name).split(separator: 0x0A).map { try JSONDocument(parsing: Array($0)).root }
    }

    package func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

    package func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(filePath: file(name)))
    }

    /// Writes the text of a file again with another in place of a part of it, which must be there.
    package func edit(_ name: String, _ old: String, _ new: String) throws {
        let text = try text(name)
        guard text.contains(old) else { throw MissingText(file: name, text: old) }
        try write(text.replacing(old, with: new), to: name)
    }

    /// The records of a capture.
    package func captured(_ name: String) throws -> [InboundRecord] {
        try bytes(name).split(separator: 0x0A).map { try CaptureCodec.decode(Array($0)) }
    }
}

private struct MissingText: Error {
    let file: String
    let text: String
}

extension CaptureCodec {
    /// A capture of these records.
    package static func capture(_ records: some Sequence<InboundRecord>) -> [UInt8] {
        var bytes: [UInt8] = []
        for record in records { encode(record, into: &bytes) }
        return bytes
    }
}
