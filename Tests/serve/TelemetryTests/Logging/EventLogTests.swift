internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Glibc
internal import JSON
internal import Kafka
internal import KafkaPorts
internal import Pipeline
internal import Settings
internal import TestKit
internal import Testing
internal import Threads

@testable internal import Telemetry

/// The lines of a worker's log.
struct EventLogTests {
    private func lines(
        _ style: LogLine.Style,
        level: LogLevel = .info,
        _ body: (EventLog) -> Void
    ) -> [String] {
        let text = Locked<[UInt8]>([])
        var settings = LogSettings()
        settings.level = level
        let log = EventLog(settings, style, wallClock: { 1_763_633_400_123 }, uptime: { 5 }) { bytes in
            text.withLock { $0 += bytes }
        }
        log.name(instance: "worker-1")
        body(log)
        log.finish()
        return text.withLock { String(decoding: $0, as: UTF8.self) }.split(separator: "\n").map(String.init)
    }

    private var event: LogEvent {
        var event = LogEvent(.warning, .partitionHeld, "partition 3 is held\nby \"all\"", counts: [.init("kept", 7)])
        (event.partition, event.offset, event.code) = (3, 41, "_TIMED_OUT")
        return event
    }

    @Test func `an operator's act is an audit line with its record's place`() throws {
        let command = OperatorCommand(
            .ban,
            .key(KeyID(SHA256.hash([7]))),
            issuedAt: EvaluationTime(milliseconds: 0),
            nonce: [UInt8](repeating: 0, count: OperatorCommand.nonceBytes)
        )
        let bytes: [UInt8] = [1, 2, 3, 4]
        let id = SealingKeyID(bytes.span)
        let key = try #require(id)
        let event = LogEvent(OperatorAct(command, key: key, partition: 3, offset: 17))
        #expect(event.level == .info && !event.isFault && !event.isRepeatable)
        let line = try #require(lines(.json) { $0.log(event) }.first)
        let root = try JSONDocument(parsing: Array(line.utf8)).root
        #expect(root["event"]?.string == "audit" && root["partition"]?.integer == 3 && root["offset"]?.integer == 17)
        let act = "ban of key yjWHWPbSfmz0UnKTeXenSP2IOR22ec7afce/HwBe6Hk="
        #expect(root["message"]?.string == "\(act): by record 3/17, with the key 01020304", "\(line)")
    }

    @Test func `a line of text has its time, level and event`() {
        #expect(
            lines(.plain) { $0.log(event) }.first?
                .hasPrefix("2025-11-20T10:10:00.123Z warning partition.held: partition 3 is held") == true
        )
    }

    @Test func `a terminal shows the level only of what is wrong`() {
        let lines = lines(.terminal) { log in
            log.log(event)
            log.log(.info, .starting, "fine")
        }
        #expect(lines.count == 2 && lines[0].hasPrefix("warning: partition 3 is held") && lines[1] == "fine")
    }

    @Test(arguments: [(LogLevel.error, 3), (.warning, 4), (.info, 6), (.debug, 7)])
    func `the journal reads the severity off the front`(level: LogLevel, severity: Int) {
        #expect(lines(.journal, level: .debug) { $0.log(level, .starting, "x") } == ["<\(severity)>x"])
    }

    @Test func `a JSON line has every member, and is one line`() throws {
        let lines = lines(.json) { $0.log(event) }
        #expect(lines.count == 1)
        let root = try JSONDocument(parsing: Array(lines[0].utf8)).root
        #expect(root["time"]?.string == "2025-11-20T10:10:00.123Z" && root["level"]?.string == "warning")
        #expect(root["event"]?.string == "partition.held" && root["instance"]?.string == "worker-1")
        #expect(root["partition"]?.integer == 3 && root["offset"]?.integer == 41 && root["kept"]?.integer == 7)
        #expect(root["error"]?["code"]?.string == "_TIMED_OUT")
        #expect(root["message"]?.string?.contains("\"all\"") == true)
    }

    @Test func `events below the level are left out`() {
        #expect(lines(.plain, level: .error) { $0.log(event) }.isEmpty)
        #expect(lines(.plain, level: .warning) { $0.log(event) }.count == 1)
    }

    @Test func `the last line comes after the accounts of repeated ones`() {
        let lines = lines(.terminal) { log in
            for _ in 0..<3 { log.log(event) }
            log.log(.error, .stopped, "the end")
        }
        #expect(lines.count == 3 && lines[1].contains("(repeated 2 times in 1 s)"))
        #expect(lines.last == "error: the end")
    }

    @Test func `a log line clears the progress before it, and only a terminal has progress`() {
        let terminal = lines(.terminal) { log in
            log.show(progress: "run: 5 requests")
            log.log(.info, .starting, "news")
        }
        #expect(terminal == ["\rrun: 5 requests\u{1B}[K\r\u{1B}[Knews"])
        #expect(lines(.plain) { $0.show(progress: "run: 5 requests") }.isEmpty)
    }

    @Test func `lines that find no room are counted`() {
        let gate = Locked(false)
        let text = Locked<[UInt8]>([])
        let write: @Sendable ([UInt8]) -> Void = { bytes in
            // A reader that does not read at first.
            while !gate.withLock({ $0 }) { pause(milliseconds: 1) }
            text.withLock { $0 += bytes }
        }
        let log = EventLog(LogSettings(), .terminal, write: write)
        for number in 0..<(EventLog.most + 5) { log.log(.info, .starting, "line \(number)") }
        gate.withLock { $0 = true }
        log.finish()
        log.log(.info, .starting, "later")
        log.finish()
        let lines = text.withLock { String(decoding: $0, as: UTF8.self) }.split(separator: "\n").map(String.init)
        #expect(lines.count == EventLog.most + 2)
        #expect(lines.suffix(2) == ["warning: 5 lines are missing here: standard error took none", "later"])
    }
}

/// What becomes of librdkafka's lines and faults.
struct ClientEventTests {
    @Test(arguments: [("FAIL", LogLevel.debug), ("SESSTMOUT", .debug), ("MAXPOLL", .error)])
    func `what a worker tells in its own words is for debugging only`(facility: String, level: LogLevel) {
        let line = ClientLog.Line(severity: 3, client: "c", facility: facility, text: "Connection refused")
        #expect(LogEvent(line, quiet: LogEvent.ofConnections).level == level && LogEvent(line).level == .error)
    }

    /// NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE; and one that tells of a fault.
    @Test(arguments: [(16, LogLevel.info), (14, .info), (15, .info), (-195, .warning)] as [(Int32, LogLevel)])
    func `a coordinator that is being chosen is no fault, unless a batch was aborted`(code: Int32, level: LogLevel) {
        let event = LogEvent(KafkaFault(code: code, name: "N", message: "taking over"))
        #expect(event.name == .brokerFault && event.level == level && event.isFault == (level == .warning))
        let aborted = LogEvent(KafkaFault(code: code, name: "N", message: "committing", requiresAbort: true))
        #expect(aborted.name == .commitAborted && aborted.level == .warning && aborted.isFault)
    }
}

/// What a worker says of its own accord.
struct RunReporterTests {
    private static func brokers(_ isUp: Bool) -> [String: BrokerFigures.Broker] {
        ["b1:9092": .init(id: 1, isUp: isUp, attempts: 2), "b2:9092": .init(id: 2, isUp: false, attempts: 9)]
    }

    @Test func `a lost connection is one event, and its return another`() {
        var link = BrokerLink(comfort: "the work waits and nothing is lost")
        #expect(link.poll(Self.brokers(true), reason: nil, at: 0).isEmpty)
        let lost = link.poll(Self.brokers(false), reason: "connection refused", at: 1_000).first
        #expect(lost?.name == .brokerLost && lost?.message.contains("connection refused") == true)
        #expect(link.poll(Self.brokers(false), reason: nil, at: 2_000).isEmpty)
        let back = link.poll(Self.brokers(true), reason: nil, at: 61_000).first
        #expect(back?.name == .brokerBack && back?.counts == [LogEvent.Count("seconds", 60)])
        #expect(lost?.message.hasPrefix("no broker is connected (b1:9092, b2:9092): connection refused; ") == true)
        #expect(back?.message == "broker 1 (b1:9092) is back, after 60 s")
        #expect(link.poll([:], reason: nil, at: 62_000).isEmpty)
    }

    /// A client certificate that the brokers refuse, and a broker's certificate that is to be renewed there.
    @Test(arguments: [true, false])
    func `only a refusal of what is read at the start ends the worker, after 15 s of it`(isOld: Bool) {
        let fault = KafkaFault(code: -169, name: "_AUTHENTICATION", message: "refused").suspecting(oldClient: isOld)
        var link = BrokerLink(comfort: "the work waits and nothing is lost")
        #expect(link.poll(Self.brokers(false), reason: nil, at: 0).count == 1)
        let said = link.poll(Self.brokers(false), reason: "refused", refusal: fault, refusals: 1, at: 1_000)
        #expect(said.map(\.name) == [.brokerLost] && said[0].message.contains("refused"))
        #expect(link.poll(Self.brokers(false), reason: "refused", refusal: fault, refusals: 3, at: 15_999).isEmpty)
        #expect(link.lockout == nil)
        var (returned, old) = (link, link)
        // An outage after one refusal: the brokers are gone, and refuse nothing.
        #expect(old.poll(Self.brokers(false), reason: "refused", refusal: fault, refusals: 1, at: 16_000).isEmpty)
        #expect(old.lockout == nil)
        #expect(link.poll(Self.brokers(false), reason: "refused", refusal: fault, refusals: 3, at: 16_000).isEmpty)
        #expect((link.lockout != nil) == isOld && link.lockout?.contains("refused") ?? true)
        #expect(returned.poll(Self.brokers(true), reason: nil, refusal: fault, at: 16_000).map(\.name) == [.brokerBack])
        _ = returned.poll(Self.brokers(false), reason: nil, refusal: fault, at: 17_000)
        #expect(returned.lockout == nil)
    }

    @Test func `the heartbeat counts what came since the last`() {
        var heartbeat = Heartbeat(at: 0)
        var tally = LoopTally()
        (tally.requests, tally.accepted, tally.refused) = (600, 590, ["nonce-mismatch": 10])
        #expect(heartbeat.beat(tally, lag: 3, at: 59_999) == nil)
        #expect(
            heartbeat.beat(tally, lag: 3, at: 60_000)?.message
                == "600 answered in a minute: 10 refused, 0 deferred, 0 dead letters, lag 3, 10/s"
        )
        (tally.requests, tally.deferred) = (1_200, 600)
        #expect(
            heartbeat.beat(tally, lag: nil, at: 120_000)?.message
                == "600 answered in a minute: 0 refused, 600 deferred, 0 dead letters, 10/s"
        )
    }

    @Test func `progress shows the rate, the lag and what is not accepted`() {
        var tally = LoopTally()
        (tally.requests, tally.refused, tally.deadLetters) = (1_234, ["a": 2, "b": 1], ["not-json": 4])
        #expect(
            RunProgress.line(tally, rate: 99.9, lag: 0) == "run: 1,234 requests, 99/s, lag 0, 3 refused, 4 dead letters"
        )
    }

    @Test(arguments: [(80, "run: 1 requests"), (10, "run: 1 r…"), (2, "…"), (1, "")])
    func `a line is cut to the terminal's width`(columns: Int, expected: String) {
        #expect(Terminal.cut("run: 1 requests", columns: columns) == expected)
    }
}
