/// Bytes that are not the expected strict DER (ITU-T X.690 section 10).
struct DERFault: Error, Equatable, Sendable {
    let offset: Int
}
