internal import JSON

package struct ConfigurationFiles {
    /// Larger than any sensible configuration, and small enough to be read at once.
    private static let maxBytes = 64 << 20
    private static let maxDepth = 16

    package let directory: String
    /// Contents that replace files of the directory, by path.
    package var replacing: [String: [UInt8]] = [:]

    /// A variable of the process; nil where it is not set.
    package var environment: (_ name: String) -> String? = Variables.value

    /// Why librdkafka would refuse a property, or take another value than the written one; nil = it is in order. Here
    /// nobody asks the library: see Broker.
    package var propertyComplaint: (_ name: String, _ value: String) -> String? = { _, _ in nil }

    package init(directory: String) { self.directory = directory }

    /// The paths of worker.json, apps.json and kafka.properties.
    static func paths(in directory: String) -> Set<String> {
        Set(["worker.json", "apps.json", "kafka.properties"].map { "\(directory)/\($0)" })
    }

    /// A path as written in a file of the directory.
    func resolve(_ path: String) -> String { path.hasPrefix("/") ? path : directory + "/" + path }

    /// - Parameter remedy: the advice if the file cannot be read.
    package func read(_ path: String, remedy: String) throws(ConfigurationFault) -> [UInt8] {
        if let bytes = replacing[path] { return bytes }
        let full = resolve(path)
        let bytes: [UInt8]
        do throws(CommandFault) { bytes = try WholeFile.read(full, most: Self.maxBytes) } catch {
            throw ConfigurationFault("cannot read \(full): \(remedy).")
        }
        guard bytes.count <= Self.maxBytes
        else { throw ConfigurationFault("\(full) is larger than \(Self.maxBytes) bytes: \(remedy).") }
        return bytes
    }

    /// A file's one JSON value.
    func root(of file: String) throws(ConfigurationFault) -> ConfigurationValue {
        let bytes = try read(file, remedy: "give the config directory a readable \(file)")
        do throws(JSONFault) {
            let root = try JSONDocument(parsing: bytes, maxDepth: Self.maxDepth, maxNodes: bytes.count).root
            return ConfigurationValue(files: self, file: file, node: root)
        } catch {
            let (line, column) = Self.place(of: error.offset, in: bytes)
            throw ConfigurationFault("\(file): line \(line), column \(column): invalid JSON; fix it there.")
        }
    }

    private static func place(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
        let before = bytes.prefix(offset)
        let lines = before.count { $0 == UInt8(ascii: "\n") }
        let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count
        return (lines + 1, column + 1)
    }
}
