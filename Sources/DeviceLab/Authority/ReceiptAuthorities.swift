internal import AppAttest
internal import Crypto

/// The receipt chain: a root, an intermediate, and a signer for each year as Apple has them.
struct ReceiptAuthorities: Sendable {
    let root: LabAuthority
    let intermediate: LabAuthority
    private let signers: [LabAuthority]

    static let years = 2014...2047

    init(factory: AuthorityFactory, prefix: String, root otherRoot: LabAuthority? = nil) {
        let root = otherRoot ?? factory.receiptRoot("\(prefix) root")
        let intermediate = factory.receiptIntermediate("\(prefix) intermediate", issuer: root)
        self.root = root
        self.intermediate = intermediate
        signers = Self.years.map { factory.receiptSigner("\(prefix) signer \($0)", issuer: intermediate, year: $0) }
    }

    /// The signer in service at `time`: renewed on 20 January, valid for 13 months.
    func signer(at time: EvaluationTime) -> LabAuthority {
        let civil = CivilTime(time)
        let isRenewed = civil.month > 1 || civil.day >= 20
        return signer(year: isRenewed ? civil.year : civil.year - 1)
    }

    /// The signer of a year, or of the nearest year that has one.
    func signer(year: Int) -> LabAuthority {
        signers[min(max(year, Self.years.lowerBound), Self.years.upperBound) - Self.years.lowerBound]
    }
}

extension AuthorityFactory {
    func receiptRoot(_ label: String) -> LabAuthority {
        authority(
            label,
            name: LabName.receiptRoot,
            curve: .p384,
            issuer: nil,
            extensions: AuthorityExtensions.receiptRoot(key(label, .p384))
        )
    }

    func receiptIntermediate(
        _ label: String,
        issuer: LabAuthority,
        validity: Validity = .long,
        edit: (inout CertificateDraft) -> Void = { _ in }
    ) -> LabAuthority {
        authority(
            label,
            name: LabName.receiptIntermediate,
            curve: .p256,
            issuer: issuer,
            validity: validity,
            extensions: AuthorityExtensions.receiptIntermediate(key(label, .p256), issuer: issuer.key),
            edit: edit
        )
    }

    func receiptSigner(
        _ label: String,
        issuer: LabAuthority,
        year: Int,
        edit: (inout CertificateDraft) -> Void = { _ in }
    ) -> LabAuthority {
        authority(
            label,
            name: LabName.receiptSigner,
            curve: .p256,
            issuer: issuer,
            hash: .sha256,
            validity: Validity(from: (year, 1, 20), to: (year + 1, 2, 18)),
            extensions: AuthorityExtensions.receiptSigner(key(label, .p256), issuer: issuer.key),
            edit: edit
        )
    }
}
