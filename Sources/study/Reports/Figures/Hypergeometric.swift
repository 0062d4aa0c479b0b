internal import Glibc

/// The natural logarithm of a chance: chances below the smallest number occur.
enum LogChance {
    static func of(_ chance: Double) -> Double { log(chance) }
}

/// The exact test of a share against the rest (Fisher's, one-sided): unlike chi-square it holds for few hits too.
enum Hypergeometric {
    /// The chance that so many of `all` units, drawn without regard to hits, have at least as many hits; its natural
    /// logarithm, since chances below the smallest number occur.
    static func logTail(_ hits: Int, of units: Int, allHits: Int, all: Int) -> Double {
        guard hits > 0, hits > units + allHits - all else { return 0 }
        guard hits <= min(units, allHits), max(units, allHits) <= all else { return -.infinity }
        let first =
            logChoices(allHits, hits) + logChoices(all - allHits, units - hits) - logChoices(all, units)
        var (sum, term) = (1.0, 1.0)
        for more in hits..<min(units, allHits) {
            let up = Double(allHits - more) * Double(units - more)
            term *= up / (Double(more + 1) * Double(all - allHits - units + more + 1))
            sum += term
            if term < sum * 1e-17 { break }
        }
        return min(0, first + log(sum))
    }

    /// The logarithm of how many ways there are to choose so many.
    private static func logChoices(_ all: Int, _ chosen: Int) -> Double {
        lgamma(Double(all + 1)) - lgamma(Double(chosen + 1)) - lgamma(Double(all - chosen + 1))
    }
}
