internal import CBOR
internal import Crypto

struct FieldList {
    private(set) var fields: [ReportField] = []

    mutating func add(_ name: String, _ value: ReportValue?) {
        if let value { fields.append(ReportField(name: name, value: value)) }
    }

    mutating func add(_ name: String, text: String?) { add(name, text.map { .text($0) }) }
    mutating func add(_ name: String, text: ExactText?) { add(name, text: text?.shown) }
    mutating func add(_ name: String, count: Int) { add(name, .number(Int64(count))) }
    mutating func add(_ name: String, time: EvaluationTime?) { add(name, time.map { .time($0) }) }

    mutating func add(_ name: String, _ range: Range<Int>?, of bytes: Span<UInt8>) {
        if let range { add(name, .bytes(bytes.array(range))) }
    }
}

extension FieldList {
    /// All fields of an attestation but the trust in its map, as far as they can be read.
    mutating func addAttestation(_ parsed: AttestationObject?, _ object: [UInt8]) {
        let bytes = object.span
        add("size", count: object.count)
        guard let parsed else { return }
        add("format", text: bytes.text(parsed.format))
        add("certificates", count: parsed.certificates.count)
        let leaf = parsed.certificates.first.flatMap { try? LeafCertificate($0, object.span) }
        if let leaf { addLeaf(leaf, bytes) }
        if let second = parsed.certificates.dropFirst().first, let issuer = CACertificate(der: bytes.array(second)) {
            addIntermediate(issuer)
        }
        let data = parsed.authenticatorData
        addAuthenticatorData(data, bytes)
        add("authData.appId", text: PresentedAppID.of(parsed, leaf, bytes))
        addCredential(data, bytes)
        addEntries(data.dropFirst(AttestedCredential.endOffset), bytes)
        if let receipt = parsed.receipt { addReceiptContent(bytes.array(receipt)) }
    }

    private mutating func addLeaf(_ leaf: LeafCertificate, _ bytes: Span<UInt8>) {
        add("leaf.subject", text: CommonName.read(leaf.subject, bytes))
        add("leaf.issuer", text: CommonName.read(leaf.issuer, bytes))
        add("leaf.serial", leaf.serial, of: bytes)
        add("leaf.notBefore", time: leaf.validity.notBefore)
        add("leaf.notAfter", time: leaf.validity.notAfter)
        add("leaf.publicKey", leaf.key.map { .base64($0.x963) })
        add("leaf.keyId", leaf.key.map { .base64($0.digest.bytes) })
        add("leaf.nonce", leaf.extensions.nonce.map { $0.suffix(Digest.byteCount) }, of: bytes)
        add("leaf.accessControl", leaf.extensions.accessControl, of: bytes)
        let device = DeviceInformation(leaf.extensions, bytes)
        add("leaf.appId", text: device.appID)
        add("leaf.platform", text: device.platform)
        add("leaf.osVersion", text: device.version)
        add("leaf.osBuild", text: device.build)
    }

    private mutating func addIntermediate(_ certificate: CACertificate) {
        add("intermediate.sha256", .bytes(certificate.digest.bytes))
        let (subject, issuer) = (certificate.subject, certificate.issuer)
        add("intermediate.subject", text: CommonName.read(0..<subject.count, subject.span))
        add("intermediate.issuer", text: CommonName.read(0..<issuer.count, issuer.span))
        let validity = Validity(of: certificate)
        add("intermediate.notBefore", time: validity.notBefore)
        add("intermediate.notAfter", time: validity.notAfter)
    }

    mutating func addAuthenticatorData(_ range: Range<Int>, _ bytes: Span<UInt8>) {
        add("authData.size", count: range.count)
        guard let data = AuthenticatorData(range, bytes) else { return }
        add("authData.rpIdHash", .bytes(data.rpIDHash.bytes))
        add("authData.flags", text: data.flagNames)
        add("authData.counter", .number(Int64(data.counter)))
    }

    private mutating func addCredential(_ range: Range<Int>, _ bytes: Span<UInt8>) {
        guard let credential = AttestedCredential(range, bytes) else { return }
        let start = range.lowerBound
        add("authData.aaguid", (start + 37)..<(start + 53), of: bytes)
        add("authData.environment", text: credential.environment?.rawValue)
        add("authData.credentialIdLength", .number(Int64(credential.credentialIDLength)))
        add("authData.credentialId", .base64(credential.credentialID.bytes))
        add("authData.coseKey", credential.coseKey, of: bytes)
    }

    /// The entries of the extension map by their own names, unknown ones included.
    mutating func addEntries(_ range: Range<Int>, _ bytes: Span<UInt8>) {
        guard !range.isEmpty else { return }
        add("authData.extensions", range, of: bytes)
        guard case .map(let entries)? = try? CBORReader.read(bytes, in: range) else { return }
        for entry in entries {
            guard case .text(let key) = entry.key, let name = bytes.text(key) else { continue }
            let field = "authData.extensions.\(name)"
            switch entry.value {
            case .bytes(let value): add(field, value, of: bytes)
            case .text(let value): add(field, text: bytes.text(value))
            case .unsigned(let number): add(field, text: String(number))
            default: add(field, text: "(another CBOR type)")
            }
        }
        guard let known = try? ExtensionEntries(range, bytes) else { return }
        add("validationCategory", known.validationCategory.map { .text(Self.name(ofCategory: $0)) })
        add("bundleVersion", text: known.bundleVersion)
    }
}

extension FieldList {
    /// Apple's names of the categories, as its guide lists them.
    static func name(ofCategory category: UInt32) -> String {
        let names: [UInt32: String] = [
            0: "invalid", 1: "operating system", 2: "TestFlight", 3: "development-signed", 4: "App Store",
            5: "enterprise or ad hoc", 6: "Developer ID", 10: "other signing identity",
        ]
        return "\(category) (\(names[category] ?? "reserved or unknown"))"
    }
}

extension FieldList {
    /// A receipt's fields as far as they can be read, Apple's numbers beside those that it does not name.
    mutating func addReceiptContent(_ receipt: [UInt8]) {
        add("receipt.size", count: receipt.count)
        guard let payload = ReceiptPayload(ofReceipt: receipt) else { return }
        let bytes = payload.bytes.span
        add("receipt.appId", text: bytes.text(payload.appID))
        add("receipt.type", text: payload.type?.rawValue)
        add("receipt.environment", text: payload.environment?.rawValue)
        add("receipt.createdAt", time: payload.createdAt)
        add("receipt.notBefore", time: payload.notBefore)
        add("receipt.expiresAt", time: payload.expiresAt)
        add("receipt.riskMetric", text: payload.riskMetric)
        add("receipt.clientHash", payload.clientHash, of: bytes)
        add("receipt.leaf.sha256", .bytes(SHA256.hash(bytes.extracting(payload.leaf)).bytes))
        let leaf = try? LeafCertificate(payload.leaf, bytes)
        add("receipt.leaf.keyId", leaf?.key.map { .base64($0.digest.bytes) })
    }

    /// The App ID that a receipt names, if it can be read.
    static func appID(ofReceipt receipt: [UInt8]) -> AppID? {
        ReceiptPayload(ofReceipt: receipt).flatMap { payload in
            let bytes = payload.bytes.span
            return bytes.text(payload.appID).map { AppID($0.shown) }
        }
    }
}
