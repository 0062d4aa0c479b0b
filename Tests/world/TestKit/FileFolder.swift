internal import Foundation
internal import Pipeline
package import Streams

/// What has a folder of files.
package protocol FileFolder {
    var path: String { get }
}

extension FileFolder {
    package func file(_ name: String) -> String { path + "/" + name }

    package func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: file(name)))) }

    package func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: file(name)))
    }

    /// The records of a capture.
    package func captured(_ name: String) throws -> [InboundRecord] {
        try bytes(name).split(separator: 0x0A).map { try CaptureCodec.decode(Array($0)) }
    }
}
