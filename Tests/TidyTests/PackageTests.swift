internal import Testing
internal import Worker

@Suite("The package is the program's")
struct PackageTests {
    private static let folder = "Config/packaging/"

    /// The versions of a package's changelog, newest first, without the package's own revision.
    private static func versions(_ changelog: String) -> [String] {
        changelog.split(separator: "\n").filter { $0.hasPrefix("attest-worker (") }.compactMap { line in
            line.split(separator: "(").last?.split(separator: ")").first?.split(separator: "-").first.map(String.init)
        }
    }

    @Test func `Its newest version is the program's, and so is the one that the pages and Kubernetes name`() throws {
        let version = AttestWorker.version
        let changelog = try #require(SourceTree.text(Self.folder + "debian/changelog"))
        #expect(Self.versions(changelog).first == version)
        let pods = try #require(SourceTree.text(Self.folder + "statefulset.yaml"))
        #expect(pods.contains("image: attest-worker:\(version)\n"))
        let page = try #require(Page("Installing"))
        let names = page.text.matches(of: /attest-worker_([0-9.]+)-[0-9]+_/).map { String($0.1) }
        #expect(names.count > 1 && names.allSatisfy { $0 == version })
    }

    @Test func `A changelog's versions are found`() {
        let text =
            "attest-worker (1.2.0-3) bookworm; urgency=low\n\n  * x (9.9-1)\n\nattest-worker (1.1.0-1) bookworm\n"
        #expect(Self.versions(text) == ["1.2.0", "1.1.0"])
    }

    @Test(arguments: ["ExecStart=", "Type=notify", "RestartPreventExitStatus=2", "WatchdogSec=", "LimitCORE=0"])
    func `The unit has what the page promises`(setting: String) throws {
        let unit = try #require(SourceTree.text(Self.folder + "attest-worker.service"))
        #expect(unit.split(separator: "\n").contains { $0.hasPrefix(setting) })
    }

    @Test func `The unit and the container start the program with arguments that it has`() throws {
        for file in ["attest-worker.service", "test-unit"] {
            let text = try #require(SourceTree.text(Self.folder + file))
            #expect(ReadmeTests.mistakes(in: text, commands: AttestWorker.commands) == [], "\(file)")
        }
    }
}
