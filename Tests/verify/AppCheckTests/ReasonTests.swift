import AppAttest
import AppCheck
import Testing

@Suite struct ReasonTests {
    @Test(
        arguments: [
            (.object(.signatureInvalid), 403, "PERMISSION_DENIED"), (.object(.flags), 403, "PERMISSION_DENIED"),
            (.object(.receipt(.chain)), 403, "PERMISSION_DENIED"), (.unknownKey, 403, "PERMISSION_DENIED"),
            (.keyAlreadyBound, 403, "PERMISSION_DENIED"), (.counterNotGreater, 403, "PERMISSION_DENIED"),
            (.challengeConsumed, 403, "PERMISSION_DENIED"), (.malformedRequest, 400, "INVALID_ARGUMENT"),
            (.unknownMethod, 400, "FAILED_PRECONDITION"), (.unknownApp, 404, "NOT_FOUND"),
            (.tooOld, 503, "UNAVAILABLE"), (.fromFuture, 503, "UNAVAILABLE"), (.keyMismatch, 503, "UNAVAILABLE"),
            (.artifactInvalid, 403, "PERMISSION_DENIED"), (.challengeInvalid, 403, "PERMISSION_DENIED"),
            (.challengeExpired, 403, "PERMISSION_DENIED"), (.tokenInvalid, 403, "PERMISSION_DENIED"),
            (.rolloutNotAdmitted, 429, "RESOURCE_EXHAUSTED"), (.attestationRate, 429, "RESOURCE_EXHAUSTED"),
            (.riskTooHigh, 429, "RESOURCE_EXHAUSTED"), (.riskOff, 403, "PERMISSION_DENIED"),
            (.noActiveKey, 503, "UNAVAILABLE"), (.sessionToken, 403, "PERMISSION_DENIED"),
            (.banned, 403, "PERMISSION_DENIED"), (.challengeKeyUnknown, 503, "UNAVAILABLE"),
            (.challengeAhead, 503, "UNAVAILABLE"), (.sealingKeyUnknown, 503, "UNAVAILABLE"),
        ] as [(Reason, Int, String)]
    )
    func `each reason has its status`(_ reason: Reason, _ code: Int, _ status: String) {
        let answer = reason.status(appID: "a-p-p")
        #expect(answer.code == code && answer.status == status)
        #expect(
            (answer.message == "App attestation failed.")
                == (code == 403 && ![.tokenInvalid, .sessionToken].contains(reason))
        )
        #expect(answer.message.shown.contains("a-p-p") == (reason == .unknownMethod))
        #expect(!answer.message.shown.isEmpty)
        #expect(reason.isDeferral == (reason == .noActiveKey))
    }

    @Test func `the message of an unknown method names the app`() {
        #expect(Reason.unknownMethod.status(appID: "1:2:ios:3").message == "App not registered: 1:2:ios:3.")
        #expect(Status.ok.code == 200 && Status.ok.status == "OK")
    }
}

@Suite struct RecordKeyTests {
    @Test func `a record key is the standard padded text of its key ID, and only that`() throws {
        let keyID = try #require(Samples.keyID)
        #expect(String(decoding: keyID.recordKey, as: UTF8.self) == Samples.keyText)
        #expect(keyID.recordKey.count == 44)
        #expect(KeyID(recordKey: keyID.recordKey) == keyID)
    }

    @Test(
        arguments: [
            Samples.keyText.replacing("+", with: "-").replacing("/", with: "_"), String(Samples.keyText.dropLast()),
            Samples.keyText + "=", Samples.keyText + "\n", " " + Samples.keyText, "", "=", Samples.keyText.lowercased(),
            String(Samples.keyText.dropLast(2)) + "9=", String(Samples.keyText.dropLast(2)) + "==",
            String(repeating: "A", count: 44), String(repeating: "A", count: 40),
        ]
    )
    func `another spelling of the same bytes is not a record key`(_ text: String) {
        #expect(KeyID(recordKey: Array(text.utf8)) == nil || text == Samples.keyText.lowercased())
        #expect(KeyID(recordKey: Array(text.utf8)) != Samples.keyID)
    }
}
