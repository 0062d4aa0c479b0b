internal import AppAttest
internal import Settings

/// 1: what refusals depend on, a sentence each.
extension ReplayReport {
    private static let mostFindings = 7
    private static let mostSmaller = 12
    private static let mostTwins = 4
    /// A name within a sentence.
    private static let mostScalars = 100

    func parts(of diagnosis: Diagnosis) -> [Report.Part] {
        guard !diagnosis.findings.isEmpty else { return [.lead(nothing(diagnosis))] }
        let smaller = diagnosis.findings.dropFirst(Self.mostFindings)
        let shown = diagnosis.findings.prefix(Self.mostFindings)
        var parts: [Report.Part] = [.reasons(shown.map { entry(of: $0) })]
        if !smaller.isEmpty {
            let names = smaller.prefix(Self.mostSmaller).map { finding in
                "\(subject(of: finding)) (\(finding.main.inside.counted(finding.main.inside.hits)))"
            }
            let more = smaller.count > names.count ? ", …" : ""
            parts.append(.text("And \(smaller.count.counted("smaller one")): \(names.joined(separator: ", "))\(more)."))
        }
        return parts + [.text(method(diagnosis))]
    }

    private func nothing(_ diagnosis: Diagnosis) -> String {
        switch diagnosis.refused {
        case 0: "Nothing was refused."
        case ..<Diagnosis.leastHits: "Too few refusals to compare: \(diagnosis.refused.counted("device or request"))."
        default:
            "Refusals do not depend on app, App ID, version, system, category, environment or time: nothing stands out."
        }
    }

    private func method(_ diagnosis: Diagnosis) -> String {
        let refused = facts.population.devices.devices.count { $0.refused > 0 }
        let hasValues = diagnosis.findings.contains { $0.trait != nil }
        let named = "\(diagnosis.named.grouped) of \(refused.counted("refused device")) have a value named here. "
        return (hasValues ? named : "") + """
            Each device counts once, however often it asked; those that another entry of the same reason explains are \
            left out. \(diagnosis.tests.grouped) comparisons by exact test, corrected for their number (Bonferroni): \
            if nothing depended on anything, fewer than one replay in 20 would have an entry here.
            """
    }

    // MARK: A finding

    private func entry(of finding: Association) -> Report.Entry {
        var entry = Report.Entry(
            title: reason(finding.main),
            details: [subject(of: finding)],
            lead: sentence(finding)
        )
        if finding.parts.count > 1 {
            let others = finding.parts.dropFirst().prefix(Self.mostTwins).map { part in
                "\(reason(part)) (\(part.inside.counted(part.inside.hits)))"
            }
            entry.pairs.append(("also refused", others.joined(separator: ", "), nil))
        }
        if !finding.twins.isEmpty {
            let names = finding.twins.prefix(Self.mostTwins).map { "\($0.dimension.name) \(name(of: $0))" }
            entry.pairs.append(("the same devices", names.joined(separator: ", "), nil))
        }
        if finding.main.reason > 0 {
            let action = outcomes.entries[finding.main.reason - 1].text.action
            entry.pairs.append(("what to do", ReasonText.plain(action), nil))
        }
        return entry
    }

    private func reason(_ part: Association.Part) -> String { part.reason > 0 ? outcomes.name(part.reason) : "refused" }

    private func subject(of finding: Association) -> String {
        finding.trait.map { "\($0.dimension.name) \(name(of: $0))" } ?? text(finding.span)
    }

    private func name(of trait: Trait) -> String {
        let (population, id) = (facts.population, Int(trait.id))
        let name =
            trait.dimension == .appID
            ? population.appIDs.keys[id].map { configuredNames[$0] ?? unconfiguredName(of: $0) }
            : population.values[trait.dimension.rawValue].keys[id]?.shown
        return ShownText.of(name ?? "", most: Self.mostScalars)
    }

    private func sentence(_ finding: Association) -> String {
        let (inside, outside) = (finding.main.inside, finding.main.outside)
        let isAll = inside.hits == inside.units
        let count = (isAll ? "all " : "\(inside.hits.grouped) of ") + inside.counted(inside.units)
        let share = isAll ? "" : " (\(Figure.share(inside.hits, of: inside.units)))"
        let verb = finding.main.reason > 0 && outcomes.kind(finding.main.reason) == .deferred ? "deferred" : "refused"
        let why = finding.main.reason > 0 ? "\(verb) with \(outcomes.name(finding.main.reason))" : verb
        let span = text(finding.span)
        let (head, others) =
            if let trait = finding.trait {
                (
                    "\(count) \(phrase(trait))\(share) were \(why)" + (span.isEmpty ? "" : ", \(span)"),
                    "Of the other \(outside.counted(outside.units))"
                )
            } else {
                ("\(span), \(count)\(share) were \(why)", "At other times, of \(outside.counted(outside.units))")
            }
        let otherShare = " (\(Figure.share(outside.hits, of: outside.units)))"
        let rest = outside.hits == 0 ? "none" : outside.hits.grouped + otherShare
        return head.prefix(1).uppercased() + head.dropFirst() + accepted(inside) + ". \(others): \(rest)."
    }

    private func accepted(_ cell: Cell) -> String {
        guard cell.looseHits < cell.hits else { return "" }
        switch cell.accepted {
        case 0: return "; none of them was ever accepted"
        case cell.hits: return "; all of them were accepted at another time"
        case 1: return "; 1 of them was accepted at another time"
        default: return "; \(cell.accepted.grouped) of them were accepted at another time"
        }
    }

    private func phrase(_ trait: Trait) -> String {
        let name = name(of: trait)
        switch trait.dimension {
        case .appID: return "that present the App ID \(name)"
        case .app: return "of the app \(name)"
        case .platform: return "on the platform \(name)"
        case .osVersion, .bundleVersion: return "with \(trait.dimension.name) \(name)"
        case .verb, .category, .environment: return "of \(trait.dimension.name) \(name)"
        }
    }

    // MARK: Time

    private func text(_ span: Association.Span) -> String {
        switch (span.from.map(text), span.until.map(text)) {
        case (let from?, let until?): from == until ? "at \(from)" : "from \(from) to \(until)"
        case (let from?, nil): "from \(from) on"
        case (nil, let until?): "until \(until)"
        case (nil, nil): ""
        }
    }

    /// A time of the capture: without its day where the capture has but one.
    private func text(_ time: Int64) -> String {
        let first = facts.firstSeen.compactMap(\.self).min() ?? 0
        let last = facts.lastSeen.compactMap(\.self).max() ?? 0
        let span = last.clampedSubtracting(first)
        let isWhole = span >= 600_000 && time.isMultiple(of: 60_000) || span >= 6 * 3_600_000
        let text = UTCText.of(time, isWhole ? .minute : span < 60_000 ? .millisecond : .second)
        let isOneDay = UTCText.of(first, .day) == UTCText.of(last, .day)
        return isOneDay ? text.split(separator: " ").dropFirst().joined() : text
    }

    // MARK: JSON

    private static let mostFacts = 50

    func facts(of diagnosis: Diagnosis) -> Facts {
        let findings = diagnosis.findings.prefix(Self.mostFacts).map { finding -> Facts in
            let (trait, twins) = (finding.trait.map { facts(of: $0) }, finding.twins.map { facts(of: $0) })
            return [
                "sentence": .text(sentence(finding)), "trait": trait, "sameDevices": .list(twins),
                "from": finding.span.from.map { .count($0) }, "until": finding.span.until.map { .count($0) },
                "reasons": .list(finding.parts.map { facts(of: $0) }),
            ]
        }
        return ["comparisons": .count(diagnosis.tests), "findings": .list(findings)]
    }

    private func facts(of trait: Trait) -> Facts {
        ["name": .text(trait.dimension.name), "value": .text(name(of: trait))]
    }

    private func facts(of part: Association.Part) -> Facts {
        func facts(_ cell: Cell) -> Facts {
            ["units": .count(cell.units), "met": .count(cell.hits), "withoutDevice": .count(cell.looseUnits)]
        }
        return [
            "reason": part.reason > 0 ? .text(outcomes.name(part.reason)) : nil, "inside": facts(part.inside),
            "outside": facts(part.outside), "acceptedToo": .count(part.inside.accepted),
        ]
    }
}

extension Cell {
    /// So many of its units, with the word for them.
    fileprivate func counted(_ count: Int) -> String {
        guard looseUnits > 0, looseUnits != units else { return count.counted(looseUnits == 0 ? "device" : "request") }
        return count == 1 ? "1 device or request" : "\(count.grouped) devices and requests"
    }
}
