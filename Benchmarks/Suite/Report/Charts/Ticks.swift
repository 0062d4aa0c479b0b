internal import Foundation

/// Round numbers for an axis.
enum Ticks {
    /// From 0 to at most `top`, five steps or fewer.
    static func linear(to top: Double) -> [Double] {
        guard top > 0, top.isFinite else { return [0] }
        let power = pow(10, (log10(top / 5)).rounded(.down))
        let step = [1, 2, 5, 10].map { $0 * power }.first { top / $0 <= 5 } ?? 10 * power
        return stride(from: 0, through: top * 1.0001, by: step).map { $0 }
    }

    /// Of a logarithmic axis: 1, 2 and 5 of each power of ten, or the powers alone where those are many.
    static func logarithmic(_ bounds: ClosedRange<Double>) -> [Double] {
        let powers = Int(log10(bounds.lowerBound).rounded(.down))...Int(log10(bounds.upperBound).rounded(.up))
        let all = powers.flatMap { power in [1.0, 2, 5].map { $0 * pow(10, Double(power)) } }
        let inside = all.filter { bounds.contains($0) }
        return inside.count <= 8 ? inside : powers.map { pow(10, Double($0)) }.filter { bounds.contains($0) }
    }
}
