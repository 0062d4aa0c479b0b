// The faults that callers name.

extension ObjectFault {
    package static var empty: Self { named("empty") }
    package static var garbage: Self { named("garbage") }
    package static var truncated: Self { named("truncated") }
    package static var twoObjects: Self { named("two-objects") }
    package static var otherAppID: Self { named("other-app-id") }
    package static var signatureFlipped: Self { named("signature-flipped") }
    package static var signatureEmpty: Self { named("signature-empty") }
    package static var byOtherKey: Self { named("by-other-key") }
    package static var mapMoved: Self { named("map-moved") }
}

extension AttestationFault {
    package static var leafIsCA: Self { named("leaf-is-ca") }
    package static var leafByOtherKey: Self { named("leaf-by-other-key") }
    package static var leafSignatureFlipped: Self { named("leaf-signature-flipped") }
    package static var leafExpired: Self { named("leaf-expired") }
    package static var leafKeyOfOtherDevice: Self { named("leaf-key-of-other-device") }
    package static var nonceMissing: Self { named("nonce-missing") }
    package static var nonceFlipped: Self { named("nonce-flipped") }
    package static var nonceOfOtherClientData: Self { named("nonce-of-other-client-data") }
    package static var counterOne: Self { named("counter-one") }
    package static var coseKeyFlipped: Self { named("cose-key-flipped") }
    package static var categoryAsText: Self { named("category-as-text") }
    package static var mapOfOldSystem: Self { named("map-of-old-system") }
    package static var mapForged: Self { named("map-forged") }
    package static var mapUnvouched: Self { named("map-unvouched") }
    package static var receiptMissing: Self { named("receipt-missing") }
}

extension ReceiptFault {
    package static var missing: Self { named("missing") }
    package static var leafOtherwiseIssued: Self { named("leaf-otherwise-issued") }
    package static var otherClientHash: Self { named("other-client-hash") }
    package static var fromFuture: Self { named("from-future") }
    package static var tooOld: Self { named("too-old") }
    package static var expired: Self { named("expired") }
}
