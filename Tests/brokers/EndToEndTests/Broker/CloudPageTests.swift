import Foundation
import Kafka
import Settings
import TestKit
import Testing

@testable import Broker

/// The scripts of the page about clouds, with doubles of curl and of AWS's signer.
@Suite(
    "The scripts of CloudKafka",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/jq"), "jq is absent")
)
struct CloudPageTests {
    private static let folder = FileManager.default.temporaryDirectory.path + "/cloud-\(UUID().uuidString)"

    private static let curl = """
        #!/bin/sh
        case "$*" in
          *Metadata-Flavor:Google*/email*) printf 'worker@project.iam' ;;
          *Metadata-Flavor:Google*/token*) printf '{"access_token":"ya29.a-b_c?>","expires_in":3599}' ;;
          *Metadata:true*) printf '{"access_token":"az.u.re","expires_on":"%s"}' $(($(date +%s) + 86400)) ;;
          *client_id=attest-worker*) printf '{"access_token":"oi.d.c","expires_in":300,"token_type":"Bearer"}' ;;
          *) exit 22 ;;
        esac

        """

    private static let python = """
        #!/bin/sh
        mkdir -p "$0.lib"
        printf '%s\\n' 'class MSKAuthTokenProvider:' '    def generate_auth_token(region):' \\
            '        import time' '        return ("signed-" + region, int(time.time() + 900) * 1000)' \\
            > "$0.lib/aws_msk_iam_sasl_signer.py"
        PYTHONPATH="$0.lib" exec python3 "$@"

        """

    private static func write(_ name: String, _ text: String) throws -> String {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = "\(folder)/\(name)"
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    @Test func `each script prints what the program reads`() throws {
        defer { try? FileManager.default.removeItem(atPath: Self.folder) }
        _ = try Self.write("curl", Self.curl)
        let python = try Self.write("python3-lab", Self.python)
        let arguments = [
            ["https://login.example.com/token", "attest-worker", "kafka"], ["eu-central-1"], ["example"], [],
        ]
        let scripts = try PageBlocks.read("CloudKafka", "sh")
        try #require(scripts.count == arguments.count)
        var texts: [String] = []
        for (index, script) in scripts.enumerated() {
            let path = try Self.write("script-\(index)", script.replacing("/opt/msk/bin/python3", with: python))
            let command = ["/usr/bin/env", "PATH=\(Self.folder):/usr/local/bin:/usr/bin:/bin", path]
            let bytes = try ProgramOutput.run(
                arguments: command + arguments[index],
                limit: .seconds(30),
                bytes: 64 << 10
            )
            let now = Int64(Date.now.timeIntervalSince1970 * 1000)
            let token = try BearerToken(printed: bytes, now: now)
            #expect(token.end - now > 200_000 && token.end - now < 90_000_000)
            texts.append(token.text)
        }
        #expect(texts[0] == "oi.d.c" && texts[1] == "signed-eu-central-1" && texts[2] == "az.u.re")
        // Header, claims and the access token, each in base64 for URLs without padding.
        let parts = texts[3].split(separator: ".").map(String.init)
        #expect(parts.count == 3 && parts[2] == "eWEyOS5hLWJfYz8-", "\(texts[3])")
    }

    @Test func `the library takes each block of properties`() throws {
        let blocks = try PageBlocks.read("CloudKafka", "properties")
        #expect(blocks.count == 5)
        for block in blocks {
            let lines = block.split(separator: "\n").filter { !$0.hasPrefix("#") }
            let pairs = lines.map { line in
                let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
                return (parts[0], parts[1])
            }
            try KafkaProperties(pairs).validate()
        }
    }
}
