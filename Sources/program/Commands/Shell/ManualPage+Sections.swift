extension ManualPage {
    /// A term with its explanation.
    typealias Entry = (term: String, text: String)

    static let examples: [Entry] = [
        ("demo", "What a worker does, on a broker inside of the program."),
        ("new-keys --config /etc/attest-worker --add", "Fresh keys, entered into worker.json."),
        (
            "create-topics --config /etc/attest-worker --partitions 12 --replication 3",
            "The topics, before the first start."
        ),
        ("run --config /etc/attest-worker --check", "Whether the configuration and the topics are fit."),
        ("inspect --config /etc/attest-worker attestation.b64", "What an attestation says, and why it is refused."),
        (
            "replay --config /etc/attest-worker --input requests.ndjson --output out --report report.html",
            "A capture of the requests, judged without a broker."
        ),
        ("reasons nonce-mismatch", "What a reason means, and what to do about it."),
    ]

    static let signals: [Entry] = [
        (
            "SIGTERM, SIGINT",
            "Stops in order: what is under way is finished and committed. A gateway answers the calls that wait."
        ),
        (
            "SIGTERM, SIGINT again",
            "Ends at once, with 128 plus the signal's number. What was not committed is done again."
        ),
        ("SIGHUP", "Reads the configuration again, without a restart."),
    ]

    /// Every variable that is read; a test compares.
    static let environment: [Entry] = [
        (
            "STATE_DIRECTORY",
            "The folder of crash records; else state/ in the configuration's folder, else one in TMPDIR."
        ),
        ("TMPDIR", "The folder of temporary files, /tmp unless set."),
        ("NOTIFY_SOCKET", "Where systemd hears of start, reload and stop."),
        ("WATCHDOG_USEC, WATCHDOG_PID", "How often systemd's watchdog is fed, and for which process."),
        ("JOURNAL_STREAM", "Where standard error is the journal, lines begin with their levels."),
        ("KUBERNETES_SERVICE_HOST", "In a pod, a host's name as a static member's name is warned of."),
        ("SWIFT_BACKTRACE", "enable=no keeps keys and tokens, which a crash's backtrace would show, out of the log."),
        ("Others", "Those that kafka.properties names as ${env:NAME}."),
    ]

    static func list(_ heading: String, _ entries: [Entry], prefix: String = "") -> [String] {
        [".SH " + heading] + entries.flatMap { [".TP", #"\fB\#(escaped(prefix + $0.term))\fR"#, escaped($0.text)] }
    }
}
