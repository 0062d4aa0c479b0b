internal import AppAttest
internal import Crypto
internal import JSON

/// Readings of what the device signed: the app hashed other bytes than the worker does.
extension Reading {
    static let ofClientData = ofHash + ofText + ofJSON + ofArtifact

    private static let ofHash: [Reading] = [
        signed("hash-of-hash", "The app hashed twice: the device signed the SHA-256 of the hash. Hash once.") {
            [SHA256.hash($0.hash).bytes]
        },
        signed("no-hash", "The app did not hash $: App Attest takes its SHA-256.") { signed in
            signed.data.map { [signed.artifact + $0] } ?? []
        },
        signed("base64-of-hash", "The app had the base64 text of the hash signed: give App Attest its 32 bytes.") {
            TextForms.base64($0.hash).flatMap { [$0, SHA256.hash($0).bytes] }
        },
        signed("hex-of-hash", "The app had the hex text of the hash signed: give App Attest its 32 bytes.") {
            TextForms.hex($0.hash).flatMap { [$0, SHA256.hash($0).bytes] }
        },
        signed("text-of-hash", "The app had the hash signed whose text is $: it must hash that text.") {
            ($0.data.map(TextForms.decoded) ?? []).filter { $0.count == Digest.byteCount }
        },
        signed("nothing-hashed", "The app hashed no bytes: it must have $ before it hashes.") { _ in
            [SHA256.hash([]).bytes]
        },
    ]

    private static let ofText: [Reading] = [
        data("base64-text", "The app hashed the base64 text of $: hash the bytes that it stands for.") {
            TextForms.base64($0)
        },
        signed("base64-decoded", "The app decoded $ from base64 first: sign the text as it is sent.") {
            $0.read { text in text.isEmpty ? [] : [Base64.decode(text)].compactMap(\.self) }
        },
        data("hex-text", "The app hashed the hex text of $: hash the bytes that it stands for.") { TextForms.hex($0) },
        signed("hex-decoded", "The app decoded $ from hex first: sign the text as it is sent.") {
            $0.read { text in [Hexadecimal.decode(text)].compactMap(\.self) }
        },
        data("quotes", "The app hashed $ with other quotation marks around it: hash the bytes that are sent.") {
            let (mark, isQuoted) = ([UInt8(ascii: "\"")], $0.count > 1 && $0.first == 0x22 && $0.last == 0x22)
            return [mark + $0 + mark] + (isQuoted ? [Array($0.dropFirst().dropLast())] : [])
        },
        data("line-end", "The app hashed $ with another line end behind it: hash the bytes that are sent.") {
            let text = Array($0.prefix(through: $0.lastIndex { $0 != 0x0A && $0 != 0x0D } ?? -1))
            return [$0 + [0x0A], $0 + [0x0D, 0x0A], text, text + [0x0A]]
        },
        data("letter-case", "The app hashed $ in small or in capital letters: hash the bytes that are sent.") {
            [mapped($0, 0x41...0x5A), mapped($0, 0x61...0x7A)]
        },
        data("uuid-form", "The app hashed $, a UUID, in another form: hash the bytes that are sent.") {
            TextForms.uuids($0)
        },
        data("base64-form", "The app hashed $ in base64 of another alphabet or padding: hash the text that is sent.") {
            $0.isEmpty ? [] : Base64.decode($0).map(TextForms.base64) ?? []
        },
        data("percent-encoding", "The app hashed $ with or without its percent-encoding: hash the bytes that are sent.")
        {
            TextForms.percentForms($0)
        },
        data("parts-order", "The app put the parts of $ in another order: join them as the server does.") { data in
            [16, 32, 44].filter { $0 < data.count }.flatMap { count in
                [data[count...] + data[..<count], data.suffix(count) + data.dropLast(count)].map { Array($0) }
            }
        },
    ]

    private static let ofJSON: [Reading] = [
        json("json-compact", "without white space and needless escapes", [JSONSpelling()]),
        json("json-sorted", "with its members in order of their names", [JSONSpelling(isSorted: true)]),
        json(
            "json-spaced",
            "with a space after each comma and colon",
            [JSONSpelling(isSpaced: true), JSONSpelling(isSorted: true, isSpaced: true)]
        ),
        json(
            "json-slashes",
            #"with each slash as \/"#,
            [JSONSpelling(escapesSlashes: true), JSONSpelling(isSorted: true, escapesSlashes: true)]
        ),
        json(
            "json-pretty",
            "over several lines",
            [false, true].flatMap { isSorted in
                [(2, false), (4, false), (2, true)].map {
                    JSONSpelling(isSorted: isSorted, indent: $0.0, spacesColons: $0.1)
                }
            }
        ),
        json(
            "json-unicode",
            #"with \u escapes"#,
            [false, true].flatMap { isSorted in
                [false, true].map { JSONSpelling(isSorted: isSorted, isSpaced: $0, escapesUnicode: true) }
            }
        ),
        data("json-challenge", "The app hashed the member challenge of the JSON: hash all of the JSON.") {
            guard let challenge = JSONSpelling.read($0)?["challenge"]?.stringBytes else { return [] }
            return [challenge] + TextForms.decoded(challenge)
        },
        data("json-wrapper", "The app hashed $ inside a JSON object, as its member challenge: hash it alone.") {
            let texts = TextForms.base64($0) + (ExactText(validating: $0) == nil ? [] : [$0])
            return texts.map { JSONSpelling.object("challenge", $0) }
        },
    ]

    /// Readings of an exchange's assertion, which covers artifact and challenge.
    private static let ofArtifact: [Reading] = [
        assertion("challenge-alone", "The app hashed the challenge alone: the artifact comes before it.") { [$1] },
        assertion("challenge-first", "The app hashed the challenge before the artifact: the artifact comes first.") {
            [$1 + $0]
        },
        assertion("artifact-text", "The app hashed the artifact's base64 text: hash the bytes that it stands for.") {
            artifact,
            challenge in
            let texts = TextForms.base64(artifact)
            let both = texts.flatMap { text in TextForms.base64(challenge).map { text + $0 } }
            return texts.map { $0 + challenge } + both
        },
    ]
}

/// The data that the worker hashes, and their other readings.
private struct SignedData {
    let source: ClientData
    /// The client data hash as the worker has it.
    let hash: [UInt8]

    var data: [UInt8]? { source.bytes }
    var artifact: [UInt8] { source.artifact }

    func hashed(_ data: [UInt8]) -> [UInt8] { SHA256.hash(artifact.span, data.span).bytes }

    /// The hashes of the data as `change` reads them; without data, the hash itself read so.
    func read(_ change: ([UInt8]) -> [[UInt8]]) -> [[UInt8]] { data.map { change($0).map(hashed) } ?? change(hash) }
}

extension Reading {
    /// - Parameter hashes: the client data hashes that the device would have signed.
    private static func signed(
        _ name: String,
        _ sentence: String,
        _ hashes: @escaping @Sendable (SignedData) -> [[UInt8]]
    ) -> Reading {
        Reading(name, [.nonceMismatch, .signatureInvalid], sentence) { refused in
            guard let hash = refused.input.arguments.clientDataHash else { return [] }
            return hashes(SignedData(source: refused.clientData, hash: hash)).filter { $0 != hash }.map { hash in
                var changed = refused.input
                changed.arguments.clientDataHash = hash
                return changed
            }
        }
    }

    /// - Parameter change: what the app hashed in place of the data.
    private static func data(
        _ name: String,
        _ sentence: String,
        _ change: @escaping @Sendable ([UInt8]) -> [[UInt8]]
    ) -> Reading {
        signed(name, sentence) { signed in signed.data.map { change($0).map(signed.hashed) } ?? [] }
    }

    private static let mostPrettyBytes = 4_096

    private static func json(_ name: String, _ how: String, _ spellings: [JSONSpelling]) -> Reading {
        let sentence = "The app hashed the JSON as another encoder writes it, \(how): hash the bytes that are sent."
        return data(name, sentence) {
            guard let root = JSONSpelling.read($0) else { return [] }
            // Lines of many levels are mostly blanks.
            let isShort = $0.count <= mostPrettyBytes
            return spellings.filter { isShort || $0.indent == nil }.map { $0.text(root) }
        }
    }

    private static func assertion(
        _ name: String,
        _ sentence: String,
        _ change: @escaping @Sendable (_ artifact: [UInt8], _ challenge: [UInt8]) -> [[UInt8]]
    ) -> Reading {
        signed(name, sentence) { signed in
            guard !signed.artifact.isEmpty, let challenge = signed.data else { return [] }
            return change(signed.artifact, challenge).map { SHA256.hash($0).bytes }
        }
    }

    /// The same text with other letters; some bytes of other kinds stay as they are.
    private static func mapped(_ text: [UInt8], _ letters: ClosedRange<UInt8>) -> [UInt8] {
        text.map { letters.contains($0) ? $0 ^ 0x20 : $0 }
    }
}
