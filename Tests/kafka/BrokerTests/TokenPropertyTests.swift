import Foundation
import Settings
import TestKit
import Testing

@testable import Broker

@Suite("OAUTHBEARER has one source of tokens")
struct TokenPropertyTests {
    private static let access = "bootstrap.servers=127.0.0.1:1\nlog_level=0\nsecurity.protocol=sasl_plaintext\n"
    private static let bearer = access + "sasl.mechanisms=OAUTHBEARER\n"
    private static let command = "sasl.oauthbearer.token.command="

    private func problem(_ properties: String) throws -> String? {
        let configuration = try ConfigurationDirectory(properties: properties).load()
        do throws(ConfigurationFault) {
            _ = try configuration.brokerProperties()
            return nil
        } catch { return error.message }
    }

    @Test func `a command that can be run is one, with or without arguments`() throws {
        #expect(try problem(Self.bearer + Self.command + "/bin/false") == nil)
        #expect(try problem(Self.bearer + Self.command + "/bin/false --region eu-central-1") == nil)
        #expect(try problem(Self.bearer + "enable.sasl.oauthbearer.unsecure.jwt=true") == nil)
    }

    static let wrong: [String: String] = [
        bearer: "nowhere to get tokens from",
        "\(bearer)\(command)/nothing/here": "token.command: /nothing/here cannot be run: No such file or directory",
        "\(bearer)\(command)/etc/passwd x": "token.command: /etc/passwd cannot be run: Permission denied",
        "\(bearer)\(command)bin/false": "must begin with the whole path of a program",
        "\(access)sasl.mechanisms=PLAIN\n\(command)/bin/false": "needs security.protocol=sasl_ssl and sasl.mech",
        "bootstrap.servers=a:1\nsasl.mechanisms=OAUTHBEARER\n\(command)/bin/false": "needs security.prot",
        "\(bearer)enable.sasl.oauthbearer.unsecure.jwt=true\n\(command)/bin/false":
            "alone; remove enable.sasl.oauthbearer.unsecure.jwt=true",
    ]

    @Test func `a program that others may write, or exchange, is refused`() throws {
        let open = try ConfigurationDirectory(properties: "")
        try open.write("token", "#!/bin/sh\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: open.path + "/token")
        let lies = try problem("\(Self.bearer)\(Self.command)\(open.path)/token")
        #expect(lies?.contains("/token lies in /") == true, "\(lies ?? "none")")
        // Not in the folder of temporary files, where others may put another one in its place.
        let folder = NSHomeDirectory() + "/.attest-worker-token-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let program = folder + "/token"
        _ = FileManager.default.createFile(atPath: program, contents: Data("#!/bin/sh\n".utf8))
        let properties = "\(Self.bearer)\(Self.command)\(program)"
        let modes = [
            (0o700, nil), (0o755, nil), (0o775, "can be written"), (0o707, "can be written"), (0o600, "be run"),
        ]
        for (mode, told) in modes {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: program)
            let problem = try problem(properties)
            #expect(told.map { problem?.contains($0) == true } ?? (problem == nil), "\(mode): \(problem ?? "none")")
        }
    }

    @Test(arguments: wrong)
    func `none, two, and a command that cannot be run are one line`(properties: String, told: String) throws {
        let problem = try #require(try problem(properties))
        #expect(problem.hasPrefix("kafka.properties: ") && problem.contains(told), "\(problem)")
        #expect(problem.split(separator: "\n").count == 1)
    }
}
