package import AppAttest

/// One of the checks that a request's value passes before anything is verified, with what it has beside what it needs.
package struct RequestCheck: Sendable {
    package let name: String
    /// nil = passed.
    package let failure: Reason?
    package let comparison: Comparison?
}

/// Collects checks up to the first that fails.
struct RequestCheckList {
    private(set) var checks: [RequestCheck] = []

    mutating func add(
        _ name: String,
        _ comparison: Comparison?,
        _ judge: () throws(Reason) -> Void
    ) throws(Reason) {
        do throws(Reason) { try judge() } catch {
            return try refuse(name, error, comparison)
        }
        checks.append(RequestCheck(name: name, failure: nil, comparison: comparison))
    }

    mutating func refuse(_ name: String, _ reason: Reason, _ comparison: Comparison?) throws(Reason) {
        checks.append(RequestCheck(name: name, failure: reason, comparison: comparison))
        throw reason
    }
}
