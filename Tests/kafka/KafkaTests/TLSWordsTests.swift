import Testing

@testable import Kafka

struct TLSWordsTests {
    private static let place = "ssl://kafka-1:9093/bootstrap"
    private static let handshake = "\(place): SSL handshake failed: error:0A000086:SSL routines::"

    @Test(arguments: [
        (Int32(10), "it has expired", TLSWords.Kind.theirs), (9, "it is not valid yet", .theirs),
        (20, "no authority in ssl.ca.location", .ours), (62, "other names than this host", .theirs),
        (7, "error 7", .theirs),
    ])
    func `a broker's certificate is refused with OpenSSL's reason`(error: Int32, words: String, kind: TLSWords.Kind) {
        let reason = Self.handshake + "certificate verify failed (after 8ms in state SSL_HANDSHAKE)"
        let found = TLSWords.explained(reason, verifyError: error, hasCertificate: false)
        #expect(found?.kind == kind && found?.sentence.contains(words) == true)
        #expect(found?.sentence.hasPrefix(Self.place + ": the broker's certificate is refused: ") == true)
        #expect(TLSWords.explained(reason, verifyError: 0, hasCertificate: false) == nil, "no reason is known")
    }

    @Test(arguments: [42, 43, 44, 45, 46, 48, 116])
    func `an alert about certificates is about the client's own`(alert: Int) {
        let reason = "\(Self.place): Receive failed: error:0A000416:SSL routines::x: SSL alert number \(alert) (x)"
        let refused = TLSWords.explained(reason, verifyError: 0, hasCertificate: true)
        #expect(refused?.kind == .ours && refused?.sentence.contains("refuses the client certificate") == true)
        let missing = TLSWords.explained(reason, verifyError: 0, hasCertificate: false)
        #expect(missing?.kind == .ours && missing?.sentence.contains("asks for a client certificate") == true)
    }

    @Test func `what may pass is no refusal`() {
        let cut = Self.handshake + "unexpected eof while reading"
        #expect(TLSWords.explained(cut, verifyError: 10, hasCertificate: true)?.kind == .broken)
        let others = ["Connect to ipv4#127.0.0.1:9093 failed: Connection refused", "x: SSL alert number 80", ""]
        for reason in others { #expect(TLSWords.explained(reason, verifyError: 10, hasCertificate: true) == nil) }
    }
}
