internal import Crypto

/// The authenticator data and its extension map.
extension AttestationComparison {
    private func authenticatorData() -> (Range<Int>, AuthenticatorData)? {
        guard let range = parsed?.authenticatorData, let data = AuthenticatorData(range, object.span) else {
            return nil
        }
        return (range, data)
    }

    /// Whether the receipt decides if the extension map counts.
    var hasUnannouncedMap: Bool {
        guard let (range, data) = authenticatorData() else { return false }
        return range.count > AttestedCredential.endOffset && !data.announcesMap
    }

    func policy(_ refusal: Refusal) -> Comparison? {
        guard let (range, data) = authenticatorData() else { return nil }
        let rest = range.dropFirst(AttestedCredential.endOffset)
        let entries = (try? ExtensionEntries(rest, object.span)) ?? .missing
        let policy = PolicyComparison(
            expectations: expectations,
            knownAppIDs: arguments.knownAppIDs,
            presented: parsed.flatMap { PresentedAppID.of($0, leaf, object.span) }
        )
        let counts = data.announcesMap || arguments.clientDataHash == nil || isVouched
        return policy.of(refusal, rpIDHash: data.rpIDHash, entries, counts: counts)
    }

    func data(_ refusal: Refusal) -> Comparison? {
        guard let range = parsed?.authenticatorData else { return nil }
        guard let (_, data) = authenticatorData() else { return malformed(range) }
        switch refusal {
        case .flags:
            let flags = FieldList.names(ofFlags: data.flags)
            return Comparison("flags", flags, expected: "AT (0x40) among them")
        case .counterNotZero:
            return Comparison("counter", .number(Int64(data.counter)), expected: .number(0))
        case .malformedAuthData: return malformed(range)
        case .extensionsNotExpected: return map(range)
        default: return AttestedCredential(range, object.span).flatMap { credential(refusal, $0, range) }
        }
    }

    private func malformed(_ range: Range<Int>) -> Comparison {
        let count = AttestedCredential.endOffset
        let rest = range.dropFirst(count)
        let expected = "at least \(count) bytes, and then nothing or exactly one map of known types"
        guard !rest.isEmpty else {
            return Comparison("authData", "\(Counted.text(range.count, "byte"))", expected: expected)
        }
        let map = ReportValue.bytes(object.span.array(rest))
        return Comparison(
            "authData",
            "\(Counted.text(range.count, "byte")), the last of them \(map)",
            expected: expected
        )
    }

    private func map(_ range: Range<Int>) -> Comparison? {
        guard let leaf else { return nil }
        let device = DeviceInformation(leaf.extensions, object.span)
        let first = AttestationContent.firstVersionWithMap
        let hasMap = range.count > AttestedCredential.endOffset
        let isOld = device.majorVersion.map { $0 < first } ?? false
        return Comparison(
            "extension map",
            "\(hasMap ? "a map" : "no map") of system \(device.osVersion?.shown ?? "unknown")",
            expected: isOld ? "no map before system \(first)" : "a map or none"
        )
    }

    private func credential(_ refusal: Refusal, _ found: AttestedCredential, _ range: Range<Int>) -> Comparison? {
        let start = range.lowerBound
        switch refusal {
        case .aaguidUnknown:
            let aaguid = object.span.array((start + 37)..<(start + 53))
            let known = ["appattest\0\0\0\0\0\0\0", "appattestdevelop"].map { ReportValue.bytes(Array($0.utf8)) }
            return Comparison("AAGUID", .bytes(aaguid), expected: .list(known.map(\.description)))
        case .environmentMismatch:
            let accepted = Environment.allCases.filter { expectations.accepts($0) }.map(\.rawValue)
            let presented = found.environment?.rawValue
            return Comparison("environment", .text(presented ?? "unknown"), expected: .list(accepted))
        case .credentialIDLength:
            let count = Int64(found.credentialIDLength)
            return Comparison("credential ID length", .number(count), expected: .number(Int64(Digest.byteCount)))
        case .credentialIDMismatch:
            return arguments.keyID.map {
                Comparison("credential ID", .base64(found.credentialID.bytes), expected: .base64($0.bytes))
            }
        case .coseKeyMismatch:
            return leaf?.key.map {
                Comparison(
                    "COSE key",
                    .bytes(object.span.array(found.coseKey)),
                    expected: .bytes(COSEKey.bytes(of: $0))
                )
            }
        default: return nil
        }
    }
}
