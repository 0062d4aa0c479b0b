/// What `Benchmarks` is asked for.
enum Options {
    case allocations
    case check(thresholds: String)
    case all(isTiny: Bool, Files)

    /// Where the figures go, besides the standard output.
    struct Files {
        var json: String?
        var page: String?
        /// A small picture for other pages.
        var chart: String?
        /// Stands on the page and in the JSON; absent where it is not given, so that equal figures give equal bytes.
        var date: String?
    }

    static let usage = """
        Usage: Benchmarks [--tiny] [--json FILE] [--page FILE.html] [--chart FILE.svg] [--date TEXT]
               Benchmarks --allocations
               Benchmarks --check THRESHOLDS
        """

    /// nil = what is asked for is not understood.
    init?(_ arguments: [String]) {
        switch (arguments.first, arguments.count) {
        case ("--allocations", 1): self = .allocations
        case ("--check", 2): self = .check(thresholds: arguments[1])
        default:
            guard let all = Self.all(arguments) else { return nil }
            self = all
        }
    }

    private static func all(_ arguments: [String]) -> Options? {
        var (isTiny, files, rest) = (false, Files(), arguments[...])
        while let option = rest.popFirst() {
            if option == "--tiny" {
                isTiny = true
                continue
            }
            guard let place = members[option], let value = rest.popFirst() else { return nil }
            files[keyPath: place] = value
        }
        return .all(isTiny: isTiny, files)
    }

    private static var members: [String: WritableKeyPath<Files, String?>] {
        ["--json": \.json, "--page": \.page, "--chart": \.chart, "--date": \.date]
    }
}
