internal import Settings

extension Arguments {
    /// The value of `--partitions`: `3` or `0,2,5-7`; nil without it.
    func partitions() throws(UsageFault) -> Set<Int32>? {
        guard let text = string("--partitions") else { return nil }
        let fault = UsageFault("--partitions must be numbers like 3 or 0,2,5-7, not '\(text.printable)'.")
        var numbers: Set<Int32> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let bounds = part.split(separator: "-", omittingEmptySubsequences: false).map { Int32($0) }
            guard bounds.count <= 2, let first = bounds[0], let last = bounds[bounds.count - 1] else { throw fault }
            guard first >= 0, first <= last, last < 1_000_000 else { throw fault }
            numbers.formUnion(first...last)
        }
        return numbers
    }
}
