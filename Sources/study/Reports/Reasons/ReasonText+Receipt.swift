internal import AppAttest

/// Reasons that the receipt of an attestation can have.
extension ReasonText {
    static func of(_ refusal: ReceiptRefusal) -> ReasonText {
        switch refusal {
        case .missing: .receiptMissing
        case .malformed:
            .init("The receipt is not a readable CMS container.", [.attacker], "Run `inspect` on the receipt.")
        case .badCertificate: .rare("A signer or intermediate does not parse or lacks Apple's marker.")
        case .chain: .receiptChain
        case .expiredOrNotYetValid: .rare("The signer or its issuer was not valid when the receipt was created.")
        case .signature: .receiptSignature
        case .type: .receiptType
        case .appID: .rare("The receipt is for another App ID than the attestation.")
        case .environment: .rare("The receipt is for another environment than the attestation.")
        case .keyMismatch: .rare("The receipt contains another leaf certificate or key.")
        case .clientHash: .receiptClientHashMismatch
        case .fromFuture: .receiptFromFuture
        case .tooOld: .receiptTooOld
        case .expired:
            .init("The receipt's expiry is before the record's time.", [.app, .gateway], "As for `receipt:too-old`.")
        }
    }

    static let riskOff = ReasonText(
        "The app keeps no receipts.",
        [.operator],
        "Set `risk.mode` of the app to `report`, or stop who sends its receipts."
    )
    static let riskTooHigh = ReasonText(
        "The key's risk metric is above the app's limit, `risk.above`, and `risk.mode` is `refuse`.",
        [.attacker, .operator],
        "Run `attest-worker risk`. The key is served again when a receipt shows less, or 30 days after the one that "
            + "showed it."
    )
    static let receiptMetric = ReasonText(
        "The receipt has no risk metric, or a text that is not 1 to 9 digits.",
        [.gateway, .attacker],
        "Send what Apple answered, not the receipt that it was asked for."
    )
    static let receiptSuperseded = ReasonText(
        "A later receipt of the key was accepted, or the key has attested again since.",
        [.gateway],
        "None: the later one counts. Who refreshes receipts takes the next one from the receipts topic."
    )
    static let receiptMissing = ReasonText(
        "The attestation has no receipt.",
        [.app],
        "Check that no layer strips the object. Only with `require`."
    )
    static let receiptChain = ReasonText(
        "No configured receipt root vouches for the signer.",
        [.operator],
        "List Apple's receipt root in `anchors.receipt`. With an empty list every receipt gets this reason."
    )
    static let receiptSignature = ReasonText(
        "The signature does not match the content. Attestations of 2020 can have it.",
        [.device, .attacker],
        "For old captures use `report`."
    )
    static let receiptType = ReasonText(
        "The receipt is not of type `ATTEST`.",
        [.app, .attacker],
        "An attestation contains its own receipt; a refreshed one does not belong there."
    )
    static let receiptClientHashMismatch = ReasonText(
        "Apple signed another client data hash than the request has.",
        [.attacker],
        "Treat it as an attempt to move bytes between object and hash."
    )
    static let receiptFromFuture = ReasonText(
        "The receipt was created more than 60 s after the record's time.",
        [.operator],
        "Check the brokers' clocks."
    )
    static let receiptTooOld = ReasonText(
        "The receipt is more than 5 minutes older than the record.",
        [.app, .gateway],
        "The attestation waited before it reached the topic."
    )
}
