import Foundation
import TestKit

/// The blocks of code of a page of the manual.
enum PageBlocks {
    /// Those in one language, in their order.
    static func read(_ page: String, _ language: String) throws -> [String] {
        let url = PackageFolder.url.appending(path: "Sources/program/attest-worker/Documentation.docc/\(page).md")
        let parts = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "```\(language)\n")
        return parts.dropFirst().compactMap { $0.components(separatedBy: "\n```").first }
    }

    /// The lines of the TLS page's example of kafka.properties that begins with this comment.
    static func tls(_ name: String) throws -> [String] {
        guard let block = try read("TLS", "properties").first(where: { $0.hasPrefix("# \(name)") }) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return block.split(separator: "\n").dropFirst().map(String.init)
    }
}
