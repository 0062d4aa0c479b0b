/// kafka.properties: `key=value` lines for librdkafka, with `#` comments. `${env:NAME}` and `${file:PATH}` are filled in.
enum KafkaPropertiesFile {
    private static let name = "kafka.properties"

    /// Reads the lines in order. What cannot be filled in stays as written, and the fault is the clients': other commands
    /// need no broker, and no passwords.
    static func read(_ files: ConfigurationFiles, into configuration: inout Configuration) throws(ConfigurationFault) {
        let bytes = try files.read(name, remedy: "give the config directory a \(name), an empty one for replay")
        guard let text = String(validating: bytes, as: UTF8.self)
        else { throw ConfigurationFault("\(name): has bytes that are not UTF-8; save it as UTF-8.") }
        var (faults, unfilled) = (FaultList(), FaultList())
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let place = "\(name): line \(index + 1)"
            faults.attempt { () throws(ConfigurationFault) in
                guard var property = try property(line, place: place, doubts: &configuration.kafkaPropertyDoubts)
                else { return }
                guard !configuration.kafkaProperties.contains(where: { $0.name == property.name })
                else { throw ConfigurationFault("\(place): \(property.name) appears twice; keep one.") }
                let inner = "\(place): \(property.name)"
                let filling = PropertyFilling(files: files, place: inner)
                let value = unfilled.attempt { () throws(ConfigurationFault) in try filling.fill(property.value) }
                property.value = value ?? property.value
                configuration.kafkaProperties.append(property)
                let problem = KinitWords.advice(on: property.name, property.value)
                if value != nil, let problem = problem ?? files.propertyComplaint(property.name, property.value) {
                    throw ConfigurationFault("\(inner): \(problem).")
                }
            }
        }
        try faults.check()
        do throws(ConfigurationFault) { try unfilled.check() } catch { configuration.kafkaPropertyFault = error }
    }

    /// nil for an empty line or a comment.
    private static func property(
        _ line: Substring,
        place: String,
        doubts: inout [String]
    ) throws(ConfigurationFault)
        -> (name: String, value: String)?
    {
        let line = trim(line)
        guard let first = line.first, first != "#" else { return nil }
        guard let sign = line.firstIndex(of: "="), sign != line.startIndex
        else { throw ConfigurationFault("\(place): must be key=value or a comment that starts with #.") }
        let key = String(trim(line[..<sign]))
        let value = String(trim(line[line.index(after: sign)...]))
        if let advice = advice(on: key, value) { throw ConfigurationFault("\(place): \(key.printable): \(advice).") }
        if let habit = PropertySpelling.habit(in: value, isSecret: isSecret(key)) {
            guard isAnyText(key) else {
                throw ConfigurationFault("\(place): \(key.printable): \(habit.advice).")
            }
            doubts.append("\(place): \(key.printable): \(habit.doubt)")
        }
        return (key, value)
    }

    private static func trim(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }

    /// Why a property may not be set so, and what to do instead; nil where it may.
    private static func advice(on key: String, _ value: String) -> String? {
        // librdkafka accepts a topic's properties under this longer name as well.
        let name = key.hasPrefix(topicPrefix) ? String(key.dropFirst(topicPrefix.count)) : key
        if name == "ssl.providers", !value.split(separator: ",").allSatisfy({ providers.contains(String(trim($0))) }) {
            return "OpenSSL would load a library of that name; list none but \(providers.joined(separator: ", "))"
        }
        return denied.first { $0.names.contains(name) }?.advice
    }

    /// OpenSSL's own.
    private static let providers = ["default", "base", "legacy", "fips"]

    private static func isSecret(_ key: String) -> Bool { ["password", "secret"].contains { key.contains($0) } }

    /// Whether the value may be any text: a password, a user name, a client's name.
    private static func isAnyText(_ key: String) -> Bool {
        isSecret(key) || key.contains("username") || key == "client.id"
    }

    /// The properties as an object of strings.
    static var schema: JSONTree {
        let names = denied.flatMap(\.names)
        var schema = JSONTree(["type": "object"])
        let denial = JSONSchema.choice(names + names.map { topicPrefix + $0 })
        schema["propertyNames"] = .object([JSONTree.Member(name: "not", value: denial)])
        schema["additionalProperties"] = JSONSchema.string
        return schema
    }

    private static let denied: [(names: [String], advice: String)] = [
        (
            [
                "enable.auto.commit", "auto.commit.enable", "enable.auto.offset.store", "offset.store.method",
                "auto.commit.interval.ms",
            ],
            "offsets are committed with the outputs, by the worker alone; remove the line"
        ),
        (["isolation.level"], "the worker reads committed records only; remove the line (read_committed is set)"),
        (
            ["transactional.id"],
            "it is derived from group.id and the instance name; remove the line and use --instance"
        ),
        (
            ["group.instance.id"],
            "it is derived from group.id and the instance name; remove the line and use membership in worker.json"
        ),
        (
            [
                "enable.idempotence", "enable.gapless.guarantee", "acks", "request.required.acks", "max.in.flight",
                "max.in.flight.requests.per.connection", "message.send.max.retries", "retries",
            ],
            "exactly-once needs the idempotent producer's own values; remove the line"
        ),
        (
            ["partition.assignment.strategy", "group.protocol", "group.remote.assignor"],
            "the worker chooses an assignor that is safe with transactions; remove the line"
        ),
        (["auto.offset.reset"], "a new partition must be read from its start, or records are skipped; remove the line"),
        (
            ["partitioner"],
            "outputs go to their request's partition; remove the line and use partitioner in worker.json"
        ),
        (["enable.partition.eof", "allow.auto.create.topics"], "the worker sets it itself; remove the line"),
        (
            ["plugin.library.paths", "ssl.engine.location", "ssl.engine.id"],
            "the worker holds keys and loads no library that a configuration names here; remove the line"
        ),
        (
            ["sasl.kerberos.kinit.cmd"],
            "a shell would run it with the worker's rights; remove the line: the library's own command renews the ticket, "
                + "or another program renews it and sasl.kerberos.min.time.before.relogin is 0"
        ),
        (
            ["test.mock.num.brokers"],
            "every client would get its own broker; remove the line and use embeddedBroker in worker.json"
        ),
    ]

    private static let topicPrefix = "topic."
}

/// Properties that librdkafka puts into its default of `sasl.kerberos.kinit.cmd`, which a shell runs with the worker's
/// rights: keytab and principal, no other.
private enum KinitWords {
    /// Why a value, filled in, may not stand there; nil where the shell takes it as part of one word.
    static func advice(on name: String, _ value: String) -> String? {
        switch name {
        case "sasl.kerberos.keytab":
            // In double quotes.
            guard value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || isSpecialInQuotes($0) }) else { return nil }
            return
                "a shell runs kinit with it, so none of \" $ ` \\ and no control character may stand in it; rename the file"
        case "sasl.kerberos.principal":
            guard value.utf8.first == UInt8(ascii: "-") || !value.utf8.allSatisfy(isPlain) else { return nil }
            return
                "a shell runs kinit with it, so it may have letters, digits and . _ - / @ : + = , alone, and no - in front"
        default: return nil
        }
    }

    private static func isSpecialInQuotes(_ byte: UInt8) -> Bool { "\"$`\\".utf8.contains(byte) }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || "._-/@:+=,".utf8.contains(byte)
    }
}
