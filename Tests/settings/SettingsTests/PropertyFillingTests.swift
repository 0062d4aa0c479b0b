import Settings
import TestKit
import Testing

@Suite("values that kafka.properties takes from elsewhere")
struct PropertyFillingTests {
    private static func load(_ value: String) throws -> Result<String?, ConfigurationFault> {
        let directory = try ConfigurationDirectory(properties: "# a comment\nsasl.password=\(value)\n")
        try directory.write("secret", "from a file\n")
        try directory.write("lines", "one\ntwo\r\n")
        try directory.write("binary", [0xFF, 0x0A])
        try directory.write("nul", [0x61, 0x00, 0x62])
        var files = ConfigurationFiles(directory: directory.path)
        files.environment = { ["USER_NAME": "from outside", "EMPTY": "", "NESTED": "${env:USER_NAME}"][$0] }
        return Result { () throws(ConfigurationFault) in
            let configuration = try Configuration.load(files)
            if let fault = configuration.kafkaPropertyFault { throw fault }
            return configuration.kafkaProperties.first?.value
        }
        .mapError { ConfigurationFault($0.message.replacing(directory.path, with: "DIR")) }
    }

    @Test(
        arguments: [
            ("plain", "plain"), ("${env:USER_NAME}", "from outside"), ("a${env:EMPTY}b", "ab"),
            ("${file:secret}", "from a file"), ("${file:lines}", "one\ntwo"),
            ("${env:USER_NAME}/${file:secret}.", "from outside/from a file."),
            ("$${env:USER_NAME}", "${env:USER_NAME}"),
            ("${env:NESTED}", "${env:USER_NAME}"), ("$5 {x} $", "$5 {x} $"),
        ]
    )
    func `a value is filled in once, and everything else stays`(text: String, value: String) throws {
        #expect(try Self.load(text).get() == value)
    }

    @Test(
        arguments: [
            ("${env:ABSENT}", "the environment variable ABSENT is not set; set it, or remove the line."),
            ("${file:absent}", "cannot read DIR/absent: make it readable, or remove ${file:…}."),
            ("${file:binary}", "binary has bytes that are not UTF-8."),
            ("${file:nul}", "nul has a NUL byte; remove it."),
            ("hidden${env:X", "has a ${ without its }; write $${ for a literal ${."),
            ("hidden${env:}", "has a ${ that is neither ${env:NAME} nor ${file:PATH}; write $${ for a literal ${."),
            ("hidden${x}", "has a ${ that is neither ${env:NAME} nor ${file:PATH}; write $${ for a literal ${."),
        ]
    )
    func `what cannot be filled in is one line without any value`(text: String, problem: String) throws {
        let fault = #expect(throws: ConfigurationFault.self) { try Self.load(text).get() }
        #expect(fault?.message == "kafka.properties: line 2: sasl.password: \(problem)")
        #expect(fault?.exitCode == 2)
    }
}
