package import AppAttest

extension RequestDecoder {
    /// Whether a path that names no app of this registry names one for good: apps.json lists it as retired, or the
    /// path has none. Any other may only not be listed here yet: the file may be older than a worker's, or another's.
    package static func isGone(_ path: ExactText, in registry: Registry) -> Bool {
        // Without a name in it the file is not the one that was meant.
        guard !registry.isEmpty else { return false }
        switch RequestPath(path.utf8)?.resource {
        case .app(let project, let app):
            let listed = registry.projectNumber(of: project).map { ExactText($0) }
            let numbers = [project, listed, GoogleName.projectNumber(ofApp: app)]
            return numbers.contains { number in
                number.map { registry.retired.contains("projects/\($0)/apps/\(app)") } ?? false
            }
        case .oauthClient: return Self.resource(of: path).map { registry.retired.contains($0) } ?? true
        case .project, nil: return true
        }
    }

    /// What a path names, without version and verb: `projects/P/apps/A`; nil for no path of the contract.
    package static func resource(of path: ExactText) -> ExactText? { RequestPath(path.utf8)?.resource.name }
}

/// Google's names of apps.
package enum GoogleName {
    /// The project of `1:NUMBER:ios:HEX`; nil for a name of another form.
    package static func projectNumber(ofApp name: ExactText) -> ExactText? {
        let parts = name.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].elementsEqual("1".utf8), parts[2].elementsEqual("ios".utf8),
            isText(parts[1], upTo: nil), isText(parts[3], upTo: "f")
        else { return nil }
        return ExactText(validating: Array(parts[1]))
    }

    /// Whether it has a character, and only digits and letters up to the last one allowed.
    private static func isText(_ text: ArraySlice<UInt8>, upTo last: Unicode.Scalar?) -> Bool {
        !text.isEmpty
            && text.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || last.map { (UInt8(ascii: "a")...UInt8(ascii: $0)).contains(byte) } ?? false
            }
    }
}
