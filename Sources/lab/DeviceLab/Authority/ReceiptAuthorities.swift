internal import AppAttest

/// A receipt's signer, and the certificates that a receipt sends with it, signer first.
struct SignerChain: Sendable {
    let signer: LabAuthority
    var certificates: [[UInt8]]

    init(_ signer: LabAuthority, _ intermediate: LabAuthority, _ root: LabAuthority) {
        self.signer = signer
        certificates = [signer.certificate, intermediate.certificate, root.certificate]
    }
}

/// The receipt chain: a root, an intermediate, and a signer for each year as Apple has them.
struct ReceiptAuthorities: Sendable {
    let root: LabAuthority
    let intermediate: LabAuthority
    private let signers: [LabAuthority]

    static let years = 2014...2047

    init(factory: AuthorityFactory, prefix: String) {
        let root = factory.authority(.receiptRoot, "\(prefix) root")
        let intermediate = factory.authority(.receiptIntermediate, "\(prefix) intermediate", issuer: root)
        (self.root, self.intermediate) = (root, intermediate)
        signers = Self.years.map { year in
            let validity = Validity(from: (year, 1, 20), to: (year + 1, 2, 18))
            let label = "\(prefix) signer \(year)"
            return factory.authority(.receiptSigner, label, issuer: intermediate, validity: validity)
        }
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

    func chain(_ signer: LabAuthority) -> SignerChain { SignerChain(signer, intermediate, root) }
}
