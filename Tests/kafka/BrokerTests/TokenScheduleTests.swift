import Kafka
import Settings
import Testing

@testable import Broker

@Suite("When a token command runs, and what is told of it")
struct TokenScheduleTests {
    private static let begin: Int64 = 1_700_000_000_000
    private let fault = ProgramFault(clause: "ended with exit code 3")

    private func token(life: Int64, at now: Int64 = begin) -> Result<BearerToken, ProgramFault> {
        .success(BearerToken(text: "t", principal: "p", end: now + life))
    }

    /// A life of a moment is no reason to run without a pause.
    @Test(arguments: [(900_000, 720_000), (1, 1_000)] as [(Int64, Int64)])
    func `the first run is at once, the next after four fifths of the token's life`(life: Int64, pause: Int64) {
        var schedule = TokenSchedule()
        #expect(schedule.isDue(at: Self.begin, isRefused: false))
        #expect(schedule.note(token(life: life), begin: Self.begin, at: Self.begin) == nil)
        #expect(!schedule.isDue(at: Self.begin + pause - 1, isRefused: false))
        #expect(schedule.isDue(at: Self.begin + pause, isRefused: false))
    }

    @Test func `failures are told once, each pause is longer up to ten seconds, and the end of them is told`() {
        var (schedule, now) = (TokenSchedule(), Self.begin)
        for (index, pause) in [Int64(1_000), 2_000, 5_000, 10_000, 10_000].enumerated() {
            let news = schedule.note(.failure(fault), begin: now, at: now)
            #expect((news != nil) == (index == 0))
            if let news {
                #expect(news.isFault && news.line.contains("token.command ended with exit code 3; there is no token"))
            }
            #expect(!schedule.isDue(at: now + pause - 1, isRefused: false))
            #expect(schedule.isDue(at: now + pause, isRefused: false))
            now += pause
        }
        let news = schedule.note(token(life: 60_000, at: now), begin: now, at: now)
        #expect(news?.isFault == false && news?.line.hasSuffix("gives tokens again") == true)
        #expect(schedule.note(token(life: 60_000, at: now), begin: now, at: now) == nil)
        // A new row of failures is told again.
        #expect(schedule.note(.failure(fault), begin: now, at: now)?.isFault == true)
    }

    @Test func `another reason in a row of failures is told, the same one with other numbers is not`() {
        var schedule = TokenSchedule()
        let told = [20_001, 20_004, nil, nil, 20_007].map { milliseconds in
            let clause = milliseconds.map { "ended with exit code 28: timed out after \($0) ms" }
            let fault = ProgramFault(clause: clause ?? "did not end within 30 seconds, and was killed")
            return schedule.note(.failure(fault), begin: Self.begin, at: Self.begin) != nil
        }
        #expect(told == [true, false, true, false, true])
    }

    @Test func `a failure while a token lives says how long that lives`() {
        var schedule = TokenSchedule()
        _ = schedule.note(token(life: 900_000), begin: Self.begin, at: Self.begin)
        let later = Self.begin + 720_000
        #expect(schedule.hasToken(at: later))
        let news = schedule.note(.failure(fault), begin: later, at: later)
        #expect(news?.line.contains("the present token ends in 180 s") == true)
        #expect(!schedule.hasToken(at: Self.begin + 900_000))
    }

    @Test func `a refused token is replaced, at most every ten seconds`() {
        var schedule = TokenSchedule()
        _ = schedule.note(token(life: 900_000), begin: Self.begin, at: Self.begin + 2_000)
        #expect(!schedule.isDue(at: Self.begin + 9_999, isRefused: true))
        #expect(!schedule.isDue(at: Self.begin + 10_000, isRefused: false))
        #expect(schedule.isDue(at: Self.begin + 10_000, isRefused: true))
    }

    @Test func `a clock that was set back asks for a token at once`() {
        var schedule = TokenSchedule()
        _ = schedule.note(token(life: 900_000), begin: Self.begin, at: Self.begin)
        #expect(schedule.isDue(at: Self.begin - 1, isRefused: false))
    }
}

@Suite("What a token command prints")
struct PrintedTokenTests {
    private static let now: Int64 = 1_700_000_000_000
    private static let good: [(String, String)] = [
        ("token", #""t.o.k""#), ("principal", #""worker""#), ("lifetimeMs", "1700000900000"),
        ("extensions", #"{"logicalCluster": "lkc-1"}"#),
    ]

    private func read(_ text: String) throws(ProgramFault) -> BearerToken {
        try BearerToken(printed: Array(text.utf8), now: Self.now)
    }

    private func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\"\($0)\": \($1)" }.joined(separator: ", ") + "}\n"
    }

    @Test func `a token with name, end and extensions is read, and what is printed besides is ignored`() throws {
        let token = try read(object(Self.good + [("expires_in", "900")]))
        #expect(token.text == "t.o.k" && token.principal == "worker" && token.end == 1_700_000_900_000)
        #expect(token.extensions == ["logicalCluster", "lkc-1"])
        #expect(try read(object(Array(Self.good.prefix(3)))).extensions.isEmpty)
    }

    @Test(arguments: [
        ("token", "", "token"), ("token", #""""#, "token"), ("token", #""a\u0001b""#, "token"), ("token", "7", "token"),
        ("principal", "", "principal"), ("principal", #""ü""#, "principal"), ("principal", "null", "principal"),
        ("lifetimeMs", "", "lifetimeMs"), ("lifetimeMs", #""1700000900000""#, "lifetimeMs"),
        ("lifetimeMs", "1700000900000.5", "lifetimeMs"), ("lifetimeMs", "900000", "has ended (lifetimeMs is the time"),
        ("lifetimeMs", "1700000000000", "has ended"), ("lifetimeMs", "1700000900000000", "less than a year ahead"),
        ("extensions", #"{"auth": "x"}"#, "extensions"), ("extensions", #"{"a1": "x"}"#, "extensions"),
        ("extensions", #"{"a": "x\u0001"}"#, "extensions"), ("extensions", #"{"a": 1}"#, "extensions"),
    ])
    func `a member that is absent or wrong is named, and no value is shown`(name: String, value: String, told: String) {
        let members = Self.good.filter { $0.0 != name } + (value.isEmpty ? [] : [(name, value)])
        let fault = #expect(throws: ProgramFault.self) { try read(object(members)) }
        #expect(fault?.clause.contains(told) == true && fault?.clause.contains("t.o.k") == false, "\(fault as Any)")
    }

    @Test(arguments: ["", "ey.J.x", "[]", "{} {}", "{\"token\": \"t.o.k\""])
    func `what is not one object is refused`(text: String) {
        let fault = #expect(throws: ProgramFault.self) { try read(text) }
        #expect(fault?.clause == "printed something else than one JSON object")
    }

    @Test func `a token shows its text nowhere`() throws {
        let token = try read(object(Self.good))
        var dumped = ""
        dump(token, to: &dumped)
        #expect(!"\(token) \(String(reflecting: token)) \(dumped)".contains("t.o.k"))
    }
}
