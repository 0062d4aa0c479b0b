internal import AppAttest
internal import JSON

/// The members of an ordinary object's body, as parts of the request's text. It knows the camelCase names only.
struct PlainBody {
    private var attestation: Range<Int>?
    private var assertion: Range<Int>?
    private(set) var keyID: Range<Int>?
    private(set) var clientDataHash: Range<Int>?
    private(set) var artifact: Range<Int>?
    private(set) var challenge: Range<Int>?
    private(set) var limitedUse: Bool?

    /// - Returns: nil for any other member, for a second one of a name, and for values of other types.
    init?(_ cursor: inout JSONCursor, _ text: Span<UInt8>) {
        guard cursor.take("{", text) else { return nil }
        repeat {
            guard let name = cursor.string(text), cursor.take(":", text), take(name, &cursor, text) else { return nil }
        } while cursor.take(",", text)
        guard cursor.take("}", text) else { return nil }
    }

    /// nil unless there is one object, of the verb's kind.
    func object(of verb: Verb) -> Range<Int>? {
        guard verb.bringsAttestation ? assertion == nil : verb.bringsAssertion && attestation == nil else { return nil }
        return attestation ?? assertion
    }

    private mutating func take(_ name: Range<Int>, _ cursor: inout JSONCursor, _ text: Span<UInt8>) -> Bool {
        func isNamed(_ word: StaticString) -> Bool { JSONCursor.holds(word, text.extracting(name)) }
        func take(_ member: inout Range<Int>?) -> Bool {
            guard member == nil, let value = cursor.string(text) else { return false }
            member = value
            return true
        }
        switch name.count {
        case 5 where isNamed("keyId"): return take(&keyID)
        case 8 where isNamed("artifact"): return take(&artifact)
        case 9 where isNamed("assertion"): return take(&assertion)
        case 9 where isNamed("challenge"): return take(&challenge)
        case 14 where isNamed("clientDataHash"): return take(&clientDataHash)
        case 20 where isNamed("attestationStatement"): return take(&attestation)
        case 10 where isNamed("limitedUse"):
            guard limitedUse == nil, let value = cursor.bool(text) else { return false }
            limitedUse = value
            return true
        default: return false
        }
    }
}
