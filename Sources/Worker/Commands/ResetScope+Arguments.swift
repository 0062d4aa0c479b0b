internal import Broker

extension ResetScope {
    private static let targets = ["--to-applied", "--to-committed", "--to-beginning", "--to-end", "--to-offset"]

    init(_ arguments: Arguments) throws(UsageFault) {
        self.init()
        keepsLedger = arguments.has("--offsets-only")
        partitions = try arguments.partitions()
        let given = Self.targets.filter { arguments.has($0) }
        guard given.count <= 1 else { throw UsageFault("\(given.joined(separator: " and ")) contradict each other.") }
        guard let name = given.first else {
            guard !keepsLedger else {
                throw UsageFault("--offsets-only needs one of \(Self.targets.joined(separator: ", ")).")
            }
            return
        }
        switch name {
        case "--to-beginning": target = .beginning
        case "--to-applied": target = .applied
        case "--to-committed": target = .committed
        case "--to-offset": target = .offset(Int64(try arguments.integer(name) ?? 0))
        default: target = .end
        }
        guard keepsLedger || target == .beginning || target == .end else {
            throw UsageFault("\(name) needs --offsets-only: without it only --to-beginning and --to-end are valid.")
        }
    }
}
