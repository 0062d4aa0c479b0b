internal import AppAttest
internal import AppCheck
internal import Broker
internal import CommandFrame
internal import Crypto
internal import Pipeline
internal import Settings

extension Command {
    static let bans = Command(
        name: "bans",
        summary: "list who is banned",
        options: [.value("--config", "DIR", "the configuration directory", .required)] + OperatorSubject.options,
        notes: """
            A line for each key and installation: since when, until when, and by which record of the requests topic.
            A ban is listed until its end has passed by the times of its partition's requests. The ledger has hashes of
            installations, and of keys that it does not have: to find one, name it.

            It reads what was committed when it started; workers may keep running. With --key-id or --installation the
            exit code is 1 if that one is not banned.
            """
    ) { arguments, console in
        let sought = try OperatorSubject.of(arguments)
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        let list = try ProgressMeter.during("bans", unit: "ledger record", console: console) { done in
            try BanList(try LedgerAccess(configuration), progress: done)
        }
        let view = BanView(requests: configuration.topics.requests, partitions: list.partitions)
        guard let (subject, name) = sought else {
            let rows = list.entries.map { (entry: $0, name: String?.none) }
            console.print(rows.isEmpty ? "no key and no installation is banned" : view.table(rows))
            return ExitCode.done
        }
        guard let entry = list.entries.first(where: { $0.id == subject.banID }) else {
            console.print("\(name) is not banned")
            return ExitCode.failed
        }
        console.print(view.table([(entry, name)]))
        return ExitCode.done
    }
}

/// Bans as a terminal shows them.
struct BanView {
    let requests: String
    let partitions: Int32

    /// - Parameter rows: each with its name, where the user has said it.
    func table(_ rows: [(entry: BanList.Entry, name: String?)]) -> String {
        var table = TextTable()
        table.add("banned", "since", "until", "by record")
        for (entry, name) in rows {
            table.add(
                (name ?? Self.name(entry)) + scope(entry),
                TimeText.rfc3339(entry.since.milliseconds),
                Self.end(entry),
                record(entry)
            )
        }
        return table.text
    }

    private static func name(_ entry: BanList.Entry) -> String {
        if let key = entry.key { return "key \(key.base64)" }
        let kind = entry.kind == .key ? "a key not in the ledger" : "installation"
        return "\(kind), hash \(ReportValue.bytes(Array(entry.id.bytes.prefix(8))))…"
    }

    /// An installation is banned everywhere, once each partition has its command.
    private func scope(_ entry: BanList.Entry) -> String {
        guard entry.kind == .installation, entry.places.count < partitions else { return "" }
        return " on \(entry.places.count) of \(partitions) partitions"
    }

    private static func end(_ entry: BanList.Entry) -> String {
        let ends = entry.places.values.map(\.until)
        guard !ends.contains(nil), let last = ends.compactMap(\.self).max() else { return "unban" }
        return TimeText.rfc3339(last.milliseconds)
    }

    private func record(_ entry: BanList.Entry) -> String {
        let places = entry.places.sorted { $0.key < $1.key }
        guard let (partition, ban) = places.first else { return "" }
        let more = places.count > 1 ? " and \((places.count - 1).grouped) more" : ""
        return (ban.offset.map { "\(requests)/\(partition)/\($0)" } ?? "not known") + more
    }
}
