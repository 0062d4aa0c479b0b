internal import CommandFrame
internal import Commands
internal import Testing

@Suite("The package is the program's")
struct PackageTests {
    private static let folder = "Config/packaging/"
    private static let units = ["attest-worker", "attest-gateway", "attest-refresher"]
    private static let pods = ["worker", "gateway", "refresher"].map { "../kubernetes/\($0).yaml" }

    /// The settings of a unit or the lines of another file, without those that are comments.
    private static func lines(_ file: String) throws -> [Substring] {
        try #require(SourceTree.text(folder + file)).split(separator: "\n").filter { !$0.hasPrefix("#") }
    }

    /// What follows the first such beginning of a line, indented or not.
    private static func value(_ name: String, in file: String) throws -> String? {
        try lines(file).lazy.map { $0.drop { $0 == " " } }.first { $0.hasPrefix(name) }.map {
            String($0.dropFirst(name.count))
        }
    }

    /// The versions of a package's changelog, newest first, without the package's own revision.
    private static func versions(_ changelog: String) -> [String] {
        changelog.split(separator: "\n").filter { $0.hasPrefix("attest-worker (") }.compactMap { line in
            line.split(separator: "(").last?.split(separator: ")").first?.split(separator: "-").first.map(String.init)
        }
    }

    @Test func `its newest version is the program's, and so is the one that pages, image and samples name`() throws {
        let version = AttestWorker.version
        let changelog = try #require(SourceTree.text(Self.folder + "debian/changelog"))
        #expect(Self.versions(changelog).first == version)
        for file in Self.pods + ["../compose/compose.yaml"] {
            let text = try #require(SourceTree.text(Self.folder + file))
            #expect(text.contains("image: attest-worker:\(version)\n"), "\(file)")
        }
        #expect(try Self.value("newTag: ", in: "../kubernetes/kustomization.yaml") == version)
        #expect(try Self.value("org.opencontainers.image.version=", in: "Containerfile") == "\"\(version)\"")
        let page = try #require(Page("Installing"))
        let names = page.text.matches(of: /attest-worker_([0-9.]+)-[0-9]+_/).map { String($0.1) }
        #expect(names.count > 1 && names.allSatisfy { $0 == version })
    }

    @Test func `a crash shows no memory in a container's log`() throws {
        #expect(try Self.lines("Containerfile").contains("ENV SWIFT_BACKTRACE=enable=no"))
        for file in Self.pods {
            let text = try Self.lines(file).joined(separator: "\n")
            let pattern = /- name: SWIFT_BACKTRACE\n +value: enable=no\n/
            #expect(text.contains(pattern), "\(file)")
        }
    }

    @Test func `a changelog's versions are found`() {
        let text =
            "attest-worker (1.2.0-3) bookworm; urgency=low\n\n  * x (9.9-1)\n\nattest-worker (1.1.0-1) bookworm\n"
        #expect(Self.versions(text) == ["1.2.0", "1.1.0"])
    }

    @Test(
        arguments: units,
        [
            "ExecStart=", "Type=notify", "RestartPreventExitStatus=2", "WatchdogSec=", "LimitCORE=0", "LimitNOFILE=",
            "Environment=SWIFT_BACKTRACE=enable=no",
        ]
    )
    func `each unit has what the page promises`(unit: String, setting: String) throws {
        #expect(try Self.lines("\(unit).service").contains { $0.hasPrefix(setting) })
    }

    @Test func `all units lock the same out`() throws {
        func locks(_ unit: String) throws -> [Substring] {
            let lines = try Self.lines("\(unit).service")
            let first = try #require(lines.firstIndex(of: "NoNewPrivileges=yes"))
            return Array(lines[first...])
        }
        let gateway = try locks("attest-gateway")
        #expect(try gateway == locks("attest-worker") && gateway == locks("attest-refresher") && gateway.count > 25)
    }

    @Test(arguments: units)
    func `each unit has a user of its own, its folder and no key of the other`(unit: String) throws {
        let file = "\(unit).service"
        #expect(try Self.value("User=", in: file) == unit && Self.value("Group=", in: file) == unit)
        #expect(try Self.value("ExecStart=", in: file)?.hasSuffix(" --config /etc/\(unit)") == true)
        let postinst = try Self.lines("debian/postinst")
        #expect(postinst.contains { $0.contains("user \(unit) ") })
        #expect(try Self.lines("debian/prerm").contains { $0.contains("for name in") && $0.contains(unit) })
        #expect(try Self.lines("build-deb").contains { $0.contains(unit) })
        let active = try Self.lines(file).filter { $0.hasPrefix("LoadCredential") }
        #expect(active.isEmpty)
    }

    /// 5 s to accept calls lie within; 8 s are for the producer's and two readers' ends.
    private static let drainSeconds = 30 + 2 + 8

    @Test func `a gateway has the time that its drain takes`() throws {
        let unit = try #require(try Self.value("TimeoutStopSec=", in: "attest-gateway.service").flatMap { Int($0) })
        #expect(unit > Self.drainSeconds)
        let pods = "../kubernetes/gateway.yaml"
        let pod = try #require(
            try Self.value("terminationGracePeriodSeconds: ", in: pods).flatMap { Int($0) }
        )
        let sleep = try #require(
            try Self.value(#"command: ["/bin/sleep", "#, in: pods).flatMap { Int($0.filter(\.isNumber)) }
        )
        #expect(pod > Self.drainSeconds + sleep)
        for file in ["../kubernetes/gateway/worker.json", "../gateway/worker.json"] {
            let text = try #require(SourceTree.text(Self.folder + file))
            #expect(text.contains(#""deadline": "30s""#), "\(file)")
        }
    }

    @Test(
        arguments: [
            ("refresher", "risk", ["signingKeys", "sealingKeys", "challenges"]),
            ("gateway", "gateway", ["signingKeys", "sealingKeys"]),
        ]
    )
    func `no sample of another program names a key of the worker`(name: String, own: String, keys: [String]) throws {
        for file in ["../kubernetes/\(name)/worker.json", "../\(name)/worker.json"] {
            let text = try #require(SourceTree.text(Self.folder + file))
            #expect(!keys.contains { text.contains($0) } && text.contains("\"\(own)\": {"), "\(file)")
        }
    }

    @Test func `the package has each unit and each example, and the page names them`() throws {
        let build = try #require(SourceTree.text(Self.folder + "build-deb"))
        let page = try #require(Page("Installing"))
        for name in ["compose", "kubernetes"] {
            #expect(build.contains(name) && page.text.contains("`Config/\(name)`"), "\(name)")
        }
        for unit in Self.units {
            #expect(build.contains(unit) && page.text.contains("/lib/systemd/system/\(unit).service"), "\(unit)")
        }
    }

    @Test func `the package has the pages, and a step of the image ends without what apt leaves`() throws {
        let build = try #require(SourceTree.text(Self.folder + "build-deb"))
        #expect(build.contains("/Sources/program/attest-worker/Documentation.docc\n"))
        let steps = try Self.lines("Containerfile").joined(separator: "\n").split(separator: "\nRUN ")
        for step in steps where step.contains("apt-get install") {
            #expect(step.contains("apt-get clean") && step.contains("/var/lib/apt/lists/*"))
            #expect(step.contains("/var/cache/apt/*"))
        }
        #expect(try Self.lines("Containerfile").filter { $0.hasPrefix("FROM ") }.last == "FROM scratch")
    }

    @Test func `the manual page names every variable that is read`() throws {
        let page = try #require(SourceTree.text("Sources/program/Commands/Shell/ManualPage+Sections.swift"))
        let calls = SourceTree.files.filter { $0.isUnder(["Sources/"]) }.flatMap(\.lines).flatMap { line in
            line.matches(of: /Variables\.values?\(([^)]*)\)/).map { $0.1 }
        }
        let names = calls.flatMap { $0.matches(of: /"([A-Z_]+)"/).map { String($0.1) } }
        #expect(names.count > 5)
        // Not in release builds.
        for name in Set(names).subtracting(["ATTEST_WORKER_CRASH"]) { #expect(page.contains(name), "\(name)") }
    }

    @Test(arguments: units.map { "\($0).service" } + ["test-unit", "../compose/compose.yaml"] + pods.dropFirst())
    func `what starts the program does it with arguments that it has`(file: String) throws {
        let text = try #require(SourceTree.text(Self.folder + file))
        #expect(
            ReadmeTests.invocations(in: text).contains { words in
                AttestWorker.commands.contains { $0.name == words.first.map(String.init) }
            }
        )
        #expect(ReadmeTests.mistakes(in: text, commands: AttestWorker.commands) == [])
    }
}
