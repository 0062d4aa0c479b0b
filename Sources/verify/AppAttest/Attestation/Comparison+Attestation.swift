internal import Crypto

/// An attestation's presented values, where they need words.
extension Comparison {
    static func attestation(
        _ object: [UInt8],
        _ clientDataHash: [UInt8]?,
        _ limits: ObjectLimits,
        isRead: Bool
    ) -> Comparison {
        let expected = "1 to \(limits.attestationBytes) bytes of strict CBOR with fmt, attStmt and authData"
        return .object(object, clientDataHash, limits, isRead ? "that form" : nil, expected: expected)
    }

    /// - Parameter isIssuerUsable: nil = not looked at.
    static func certificates(
        _ parsed: AttestationObject,
        isLeafUsable: Bool,
        isIssuerUsable: Bool? = nil
    ) -> Comparison {
        let expected = "2 certificates: a readable leaf and a readable intermediate"
        guard parsed.certificates.count == 2 else {
            return Comparison("certificates", "\(parsed.certificates.count)", expected: expected)
        }
        let issuer = isIssuerUsable.map { ", an intermediate that is \($0 ? "" : "not ")usable" } ?? ""
        return Comparison(
            "certificates",
            "a leaf that is \(isLeafUsable ? "" : "not ")usable\(issuer)",
            expected: expected
        )
    }

    /// Who issued the certificates, as they say.
    static func issuers(
        _ parsed: AttestationObject,
        _ leaf: LeafCertificate,
        _ object: [UInt8],
        _ roots: [CACertificate]
    ) -> Comparison {
        let issuer = CACertificate(der: object.span.array(parsed.certificates[1]))
        let names = [object.span.array(leaf.issuer), issuer?.issuer ?? []].map { CommonName.shown($0) }
        let accepted = roots.map { root in
            "\(CommonName.shown( root.subject)) (sha256 \(ReportValue.bytes(root.digest.bytes)))"
        }
        return Comparison(
            "issuers",
            "the leaf by \(names[0]), its issuer by \(names[1])",
            expected: "signed by that intermediate, and it by \(ReportValue.list(accepted, none: "a root"))"
        )
    }

    /// Data of another form.
    static func authenticatorData(_ range: Range<Int>, _ bytes: Span<UInt8>) -> Comparison {
        let count = AttestedCredential.endOffset
        let rest = range.dropFirst(count)
        let map = rest.isEmpty ? "" : ", the last of them \(ReportValue.bytes(bytes.array(rest)))"
        let expected = "at least \(count) bytes, and then nothing or exactly one map of known types"
        return Comparison("authData", "\(Counted.text(range.count, "byte"))\(map)", expected: expected)
    }

    /// An unknown AAGUID.
    static func aaguid(_ data: Range<Int>, _ bytes: Span<UInt8>) -> Comparison {
        let known = [AttestedCredential.production, AttestedCredential.development]
        let names = known.map { ReportValue.bytes(Array($0.utf8)).description }
        let presented = bytes.array((data.lowerBound + 37)..<(data.lowerBound + 53))
        return Comparison("AAGUID", .bytes(presented), expected: .list(names))
    }

    static func format(_ parsed: AttestationObject, _ bytes: Span<UInt8>) -> Comparison {
        let format = ReportValue.text(bytes.text(parsed.format), else: "unreadable")
        return Comparison("format", format, expected: .text(AttestationObject.appleFormat))
    }

    static func extensionMap(_ entries: ExtensionEntries, _ device: DeviceInformation, isOld: Bool) -> Comparison {
        let system = ReportValue.text(device.osVersion, else: "unknown")
        return Comparison(
            "extension map",
            "\(entries.isPresent ? "a map" : "no map") of system \(system)",
            expected: isOld ? "no map before system \(ExtensionEntries.firstVersion)" : "a map or none"
        )
    }
}
