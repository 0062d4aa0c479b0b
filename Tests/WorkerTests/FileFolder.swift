internal import BrokerKit
internal import Foundation
internal import Log
internal import Pipeline

/// What has a folder of files.
protocol FileFolder {
    var path: String { get }
}

extension FileFolder {
    func file(_ name: String) -> String { path + "/" + name }

    func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: file(name)))) }

    func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: URL(filePath: file(name))) }

    /// The records of a capture.
    func captured(_ name: String) throws -> [InboundRecord] {
        try bytes(name).split(separator: 0x0A).map { try CaptureCodec.decode(Array($0)) }
    }
}

extension ProgramWorkplace: FileFolder {
    var path: String { folder }
}
