internal import AppAttest
package import AppCheck

extension ReasonText {
    /// Every reason has a text: a new one without it does not compile.
    package static func of(_ reason: Reason) -> ReasonText {
        switch reason {
        case .object(let refusal): of(refusal)
        case .malformedRequest: .malformedRequest
        case .unknownMethod: .unknownMethod
        case .unknownApp: .unknownApp
        case .keyMismatch: .keyMismatch
        case .tooOld: .tooOld
        case .fromFuture: .fromFuture
        case .unknownKey: .unknownKey
        case .keyAlreadyBound: .keyAlreadyBound
        case .counterNotGreater: .counterNotGreater
        case .artifactInvalid: .artifactInvalid
        case .sealingKeyUnknown: .sealingKeyUnknown
        case .challengeInvalid: .challengeInvalid
        case .challengeKeyUnknown: .challengeKeyUnknown
        case .challengeExpired: .challengeExpired
        case .challengeAhead: .challengeAhead
        case .challengeConsumed: .challengeConsumed
        case .banned: .banned
        case .debugTokenInvalid: .debugTokenInvalid
        case .debugTokenExpired: .debugTokenExpired
        case .tokenInvalid: .tokenInvalid
        case .sessionToken: .sessionToken
        case .rolloutNotAdmitted: .rolloutNotAdmitted
        case .attestationRate: .attestationRate
        case .noActiveKey: .noActiveKey
        }
    }

    package static func of(_ reason: DeadLetterReason) -> ReasonText {
        switch reason {
        case .nullValue: .letterNullValue
        case .tooLarge: .letterTooLarge
        case .badHeaders: .letterBadHeaders
        case .notJSON: .letterNotJson
        case .noPath: .letterNoPath
        case .internal: .letterInternal
        }
    }

    private static func of(_ refusal: Refusal) -> ReasonText {
        switch refusal {
        case .expiredOrNotYetValid(.leaf): .datesLeaf
        case .expiredOrNotYetValid(.intermediate): .datesIntermediate
        case .expiredOrNotYetValid(.root): .datesRoot
        case .receipt(let refusal): of(refusal)
        case .malformedAttestation: .malformedAttestation
        case .malformedAssertion: .malformedAssertion
        case .badFormat: .badFormat
        case .badCertificate: .badCertificate
        case .chain: .chain
        case .nonceMissing: .nonceMissing
        case .nonceMalformed: .nonceMalformed
        case .nonceMismatch: .nonceMismatch
        case .flags: .flags
        case .aclMissing: .aclMissing
        case .aclMismatch: .aclMismatch
        case .keyType: .keyType
        case .keyIDMismatch: .keyidMismatch
        case .appIDMismatch: .appIdMismatch
        case .counterNotZero: .counterNotZero
        case .aaguidUnknown: .aaguidUnknown
        case .environmentMismatch: .environmentMismatch
        case .credentialIDLength: .credentialIdLength
        case .credentialIDMismatch: .credentialIdMismatch
        case .coseKeyMismatch: .coseKeyMismatch
        case .malformedAuthData: .malformedAuthdata
        case .extensionsNotExpected: .extensionsNotExpected
        case .categoryMissing: .categoryMissing
        case .categoryNotAllowed: .categoryNotAllowed
        case .bundleVersionMissing: .bundleVersionMissing
        case .bundleVersionNotAllowed: .bundleVersionNotAllowed
        case .signatureInvalid: .signatureInvalid
        case .keyInvalid: .keyInvalid
        }
    }

    private static func of(_ refusal: ReceiptRefusal) -> ReasonText {
        switch refusal {
        case .missing: .receiptMissing
        case .malformed: .receiptMalformed
        case .badCertificate: .receiptBadCertificate
        case .chain: .receiptChain
        case .expiredOrNotYetValid: .receiptExpiredOrNotYetValid
        case .signature: .receiptSignature
        case .type: .receiptType
        case .appID: .receiptAppIdMismatch
        case .environment: .receiptEnvironmentMismatch
        case .keyMismatch: .receiptKeyMismatch
        case .clientHash: .receiptClientHashMismatch
        case .fromFuture: .receiptFromFuture
        case .tooOld: .receiptTooOld
        case .expired: .receiptExpired
        }
    }
}
