package import AppAttest
package import Crypto

/// A refused object with all that readings may look at.
package struct RefusedObject: Sendable {
    package let input: InspectedInput
    package let report: ObjectReport
    /// The bytes that the client data hash is made of, as far as they are known.
    package var clientData = ClientData.unknown
    /// The App IDs of all configured apps.
    package var knownAppIDs: [AppID] = []
    /// Whether the worker knows a key of the key ID named.
    package var isKeyKnown = false

    package init(_ input: InspectedInput, _ report: ObjectReport) { (self.input, self.report) = (input, report) }

    /// A field's value, where the object can be read so far.
    func field(_ name: String) -> ReportValue? { report.fields.first { $0.name == name }?.value }

    /// The words for what a reading is about, where this input fits.
    fileprivate func noun(under fitting: InspectedInput) -> String {
        if report.reason == Refusal.appIDMismatch.code {
            return fitting.arguments.expectations?.appIDs.first?.text ?? ""
        }
        return fitting.kind == input.kind ? clientData.noun : fitting.kind.rawValue
    }
}

/// Another way to read what was sent, tried once a check has refused it: it explains a verdict and changes none.
///
/// The reasons are those that developers ask about: their app signs other bytes than their server checks.
package struct Reading: Sendable {
    package let name: String
    /// The names of the refusals that it may explain.
    package let reasons: Set<String>
    /// The app's mistake and its remedy; `$` stands for the thing that it is about.
    let sentence: String
    /// The inputs under which the check would pass if this were it: few, each judged once.
    let changed: @Sendable (RefusedObject) -> [InspectedInput]

    init(
        _ name: String,
        _ reasons: [Refusal],
        _ sentence: String,
        _ changed: @escaping @Sendable (RefusedObject) -> [InspectedInput]
    ) {
        self.name = name
        self.reasons = Set(reasons.map(\.code))
        (self.sentence, self.changed) = (sentence, changed)
    }

    /// All readings, in the order in which they are tried.
    package static let all = ofClientData + ofObjects + ofNames

    /// The most inputs of one reading that are judged.
    static let mostInputs = 20

    /// The first reading under which the failed check passes; nil where none does, or nothing failed.
    ///
    /// - Parameter first: the name of the reading that is tried before the others.
    package static func fitting(
        _ refused: RefusedObject,
        _ verifier: ObjectVerifier,
        at time: EvaluationTime,
        engine: any SignatureEngine,
        first: String? = nil
    ) -> FittingReading? {
        guard let check = refused.report.failedCheck, let reason = refused.report.reason else { return nil }
        let ordered = all.filter { $0.name == first } + all.filter { $0.name != first }
        for reading in ordered where reading.reasons.contains(reason) {
            for input in reading.changed(refused).prefix(mostInputs)
            where verifier.passes(check.name, input, at: time, engine: engine) {
                let sentence = reading.sentence.replacing("$", with: refused.noun(under: input))
                return FittingReading(name: reading.name, sentence: sentence)
            }
        }
        return nil
    }
}

/// The source of a client data hash.
package enum ClientData: Sendable {
    /// The hash alone is known.
    case unknown
    /// The client data themselves.
    case data([UInt8])
    /// An exchange's challenge, behind the artifact of an assertion.
    case exchange(artifact: [UInt8], challenge: [UInt8])

    /// The longest data that are read in other ways: more than any request has.
    private static let mostBytes = 65_536

    /// The bytes that the app got, of a length that can be read in other ways.
    var bytes: [UInt8]? {
        switch self {
        case .unknown: nil
        case .data(let bytes), .exchange(_, let bytes): bytes.count <= Self.mostBytes ? bytes : nil
        }
    }

    /// The bytes that are hashed before ``bytes``.
    var artifact: [UInt8] { if case .exchange(let artifact, _) = self { artifact } else { [] } }

    /// The words for ``bytes`` in a sentence.
    fileprivate var noun: String {
        switch self {
        case .unknown: "clientDataHash"
        case .data: "the client data"
        case .exchange: "the challenge"
        }
    }
}
