package import AppAttest

extension RequestDecoder {
    /// Whether a path that names no app of this registry may name one that is only not listed here yet: a worker or
    /// another gateway may have the newer apps.json.
    ///
    /// The name must have the form that Google gives apps and OAuth clients, hold the number of a listed project, and
    /// not be retired.
    package static func isAwaited(_ path: ExactText, in registry: Registry) -> Bool {
        let (number, name): (ArraySlice<UInt8>?, [UInt8])
        switch RequestPath(path.utf8)?.resource {
        case .app(_, let app):
            number = AwaitedName.projectNumber(ofApp: app.utf8[...])
            name = Array("projects/".utf8) + (number ?? []) + Array("/apps/".utf8) + app.utf8
        case .oauthClient(let client):
            number = AwaitedName.projectNumber(ofOAuthClient: client.utf8[...])
            name = Array("oauthClients/".utf8) + client.utf8
        case .project, nil: return false
        }
        guard let number, let project = ExactText(validating: Array(number)),
            registry.projectNumber(of: project).map({ ExactText($0) }) == project
        else { return false }
        return ExactText(validating: name).map { !registry.retired.contains($0) } ?? false
    }
}

/// Google's names of apps and OAuth clients begin with their project's number.
private enum AwaitedName {
    /// `1:NUMBER:ios:HEX`.
    static func projectNumber(ofApp name: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let parts = name.split(separator: UInt8(ascii: ":"), maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].elementsEqual("1".utf8), parts[2].elementsEqual("ios".utf8),
            isNumber(parts[1]), !parts[3].isEmpty, parts[3].allSatisfy({ isDigit($0) || isLetter($0, upTo: "f") })
        else { return nil }
        return parts[1]
    }

    /// `NUMBER-LETTERS.apps.googleusercontent.com`.
    static func projectNumber(ofOAuthClient name: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let domain = Array(".apps.googleusercontent.com".utf8)
        guard name.suffix(domain.count).elementsEqual(domain) else { return nil }
        let parts = name.dropLast(domain.count).split(
            separator: UInt8(ascii: "-"),
            maxSplits: 2,
            omittingEmptySubsequences: false
        )
        guard parts.count == 2, isNumber(parts[0]), !parts[1].isEmpty,
            parts[1].allSatisfy({ isDigit($0) || isLetter($0, upTo: "z") })
        else { return nil }
        return parts[0]
    }

    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool { !text.isEmpty && text.allSatisfy(isDigit) }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isLetter(_ byte: UInt8, upTo last: Unicode.Scalar) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: last)).contains(byte)
    }
}
