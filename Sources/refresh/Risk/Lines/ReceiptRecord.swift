package import AppAttest
internal import JSON

/// A record of the receipts topic, as it was read.
package struct ReceiptRecord: Sendable {
    package var offset: Int64
    package var key: [UInt8]?
    /// nil = a tombstone.
    package var value: [UInt8]?
    package var headers: [(name: [UInt8], value: [UInt8]?)]

    package init(offset: Int64, key: [UInt8]?, value: [UInt8]?, headers: [(name: [UInt8], value: [UInt8]?)]) {
        (self.offset, self.key, self.value, self.headers) = (offset, key, value, headers)
    }

    /// The value of a header; of several with one name the last counts.
    func header(_ name: StaticString) -> [UInt8]? {
        let name = Array("\(name)".utf8)
        return headers.last { $0.name == name }?.value
    }
}

/// A receipt of the topic that may be exchanged.
package struct HeldReceipt: Sendable, Equatable {
    /// More than four times what Apple's receipts have.
    package static let mostBytes = 16_384

    package let bytes: [UInt8]
    /// The record's key: the key ID in Base64.
    package let key: [UInt8]
    /// `projects/…/apps/…`.
    package let app: String
    package let appID: String
    package let environment: Environment
    package let dates: ReceiptDates

    /// What is before the App ID's first dot, as far as a team's ID could be.
    var prefix: String { String(appID.prefix { $0 != "." }.prefix(Self.mostPrefix)) }
    private static let mostPrefix = 32

    /// The account that Apple counts its calls against; nil = no key speaks for its App ID.
    func account(by tokens: ProviderTokens) -> CallAccount? {
        tokens.team(forAppID: appID).map { CallAccount(team: $0, environment: environment) }
    }
}

extension HeldReceipt {
    /// A record without a receipt to exchange.
    enum Passed: Error, Equatable {
        /// A tombstone, or a receipt of an app that asks for no metric.
        case nothing
        /// Not what a worker writes.
        case unreadable
    }

    /// Reads a record as the worker writes it.
    ///
    /// - Parameters:
    ///   - apps: the names of the apps whose receipts are exchanged.
    ///   - line: a receipt that it does not exchange is not decoded.
    init(
        _ record: ReceiptRecord,
        for line: ReceiptLine,
        apps: Set<String>,
        judge: any ReceiptJudge
    ) throws(Passed) {
        guard let value = record.value else { throw .nothing }
        guard let app = record.header("app").flatMap({ String(validating: $0, as: UTF8.self) }) else {
            throw .unreadable
        }
        guard apps.contains(app) else { throw .nothing }
        let environment = record.header("environment").flatMap { text in
            Environment.allCases.first { Array($0.rawValue.utf8) == text }
        }
        guard let environment, let key = record.key, Base64.decode(key.span)?.count == 32,
            value.count <= Self.mostBytes,
            let told = ReceiptDates(
                type: record.header("type"),
                createdAt: record.header("created-at"),
                notBefore: record.header("not-before")
            )
        else { throw .unreadable }
        guard line.takes(told.type) else { throw .nothing }
        guard let summary = judge.summary(of: value), summary.environment == environment,
            let dates = summary.dates.agreed(with: told)
        else { throw .unreadable }
        (bytes, self.key, self.app, appID) = (value, key, app, summary.appID)
        (self.environment, self.dates) = (environment, dates)
    }
}

/// What a receipt itself says: who writes a record may err in its headers.
package typealias ReceiptSummary = (appID: String, environment: Environment, dates: ReceiptDates)

extension ReceiptDates {
    /// The dates of a receipt whose headers say the same. Of two Not Befores the later one counts: too early a call is
    /// lost.
    ///
    /// - Returns: nil where the headers are another receipt's.
    fileprivate func agreed(with told: ReceiptDates) -> ReceiptDates? {
        guard type == told.type, createdAt == told.createdAt else { return nil }
        var dates = self
        dates.notBefore = [notBefore, told.notBefore].compactMap(\.self).max()
        return dates
    }
}

/// Reads receipts and compares an answer with what was sent.
package protocol ReceiptJudge {
    /// - Returns: nil for bytes that are not a receipt, or one of a type or an environment that Apple does not document.
    func summary(of receipt: [UInt8]) -> ReceiptSummary?
    func judge(
        _ answer: [UInt8],
        to sent: HeldReceipt,
        at time: EvaluationTime
    ) -> Result<ReceiptVerdict, RefreshRefusal>
}
