internal import Testing

@Suite(".ci/run runs every suite that starts real brokers, and sanitizers build what there is")
struct BrokerSuiteTests {
    /// The types that follow a `.brokerTests` trait.
    private static func suites(in file: SourceFile) -> [String] {
        let marks = file.code.indices.filter {
            file.code[$0].split(separator: " ").contains { $0.hasPrefix(".brokerTests") }
        }
        return marks.compactMap { mark in
            let line = file.code[mark...].first { $0.hasPrefix("struct ") }
            return line.map { String($0.split(separator: " ")[1].prefix { $0 != ":" }) }
        }
    }

    @Test func `broker_suites lists each of these suites, and no other`() throws {
        let script = try #require(SourceTree.text(".ci/run"))
        let lines = script.split(separator: "\n").filter { $0.hasPrefix("broker_suites") }
        let listed = lines.flatMap { line in
            line.drop { $0 != "'" }.split { "'|".contains($0) }.map(String.init)
        }
        let suites = SourceTree.swiftFiles.filter { $0.isUnder(["Tests/"]) }.flatMap(Self.suites)
        #expect(suites.count > 10)
        #expect(listed.sorted() == suites.sorted())
    }

    @Test(arguments: ["thread_targets", "address_targets"])
    func `Each target that a sanitizer builds exists`(list: String) throws {
        let script = try #require(SourceTree.text(".ci/run"))
        let lines = script.split(separator: "\n").filter { $0.hasPrefix("\(list)=") || $0.hasPrefix("\(list)+=") }
        let names = lines.flatMap { $0.drop { $0 != "=" }.split { "=,".contains($0) }.map(String.init) }
        let manifest = Manifest(text: try #require(SourceTree.text("Package.swift")))
        #expect(names.count > 5)
        #expect(Set(names).subtracting(manifest.targets.map(\.name)) == [])
    }
}
