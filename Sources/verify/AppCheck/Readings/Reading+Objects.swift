internal import AppAttest
internal import Crypto

/// Readings of the object's bytes: the app, or a server between, wrote them in another form.
extension Reading {
    static let ofObjects: [Reading] = [
        Reading(
            "object-text",
            malformed,
            "The object is encoded twice, in base64 or hex: send the base64 of its own bytes.",
            { refused in
                let object = refused.input.object
                guard object.count <= mostBytes else { return [] }
                // Hex digits are base64 too: what came was decoded as that.
                let texts = [object] + TextForms.base64(object)
                return texts.flatMap(TextForms.decoded).filter { $0 != object }.map { changed(refused.input, $0) }
            }
        ),
        Reading(
            "other-object",
            malformed,
            "The object is an $: send it to the verb for $s.",
            { refused in
                var other = refused.input
                other.kind = other.kind == .attestation ? .assertion : .attestation
                return [other]
            }
        ),
        Reading(
            "signature-raw",
            [.signatureInvalid],
            "The signature is r and s without their DER encoding: send the object as the device made it.",
            { refused in
                guard let raw = ObjectPart.signature.bytes(of: refused.input), raw.count == 2 * Digest.byteCount else {
                    return []
                }
                let (r, s) = (Array(raw.prefix(Digest.byteCount)), Array(raw.suffix(Digest.byteCount)))
                let der = LabSignature(r: r, s: s).der
                return [ObjectPart.signature.replaced(by: der, in: refused.input)].compactMap(\.self)
            }
        ),
        part(.signature, "signature-text", "signature", [.signatureInvalid]),
        part(
            .authenticatorData,
            "authdata-text",
            "authenticator data",
            [.nonceMismatch, .signatureInvalid, .malformedAssertion, .malformedAttestation]
        ),
    ]

    private static let malformed: [Refusal] = [.malformedAttestation, .malformedAssertion]

    /// More than any object has, its text included.
    private static let mostBytes = 65_536

    /// A part of the object that is a text of its bytes.
    private static func part(_ part: ObjectPart, _ name: String, _ noun: String, _ reasons: [Refusal]) -> Reading {
        Reading(
            name,
            reasons,
            "The object holds its \(noun) as base64 or hex text: send the object as the device made it.",
            { refused in
                let texts = part.bytes(of: refused.input).map(TextForms.decoded) ?? []
                return texts.compactMap { part.replaced(by: $0, in: refused.input) }
            }
        )
    }

    private static func changed(_ input: InspectedInput, _ object: [UInt8]) -> InspectedInput {
        var changed = input
        changed.object = object
        return changed
    }
}
