internal import DeviceLab

extension Alteration {
    /// Damage to one part's tree, and what it is called; the same seed gives the same damage.
    static func random(_ random: inout SeededRandom) -> (Alteration, String) {
        let seed = random.next()
        let most = [16, 300, 1_500, 3_500, 7_000][random.below(5)]
        @Sendable func der(_ bytes: [UInt8]) -> [UInt8] {
            var random = SeededRandom(seed: seed)
            guard var tree = DERTree(bytes) else { return Mutation.damage(bytes, &random) }
            for _ in 0...random.below(3) { tree = tree.damaged(&random, most: most) }
            return tree.bytes
        }
        switch random.below(7) {
        case 0: return (.leafBody { der($0) }, "leaf's tree")
        case 1:
            return (
                .extensionMap { bytes in
                    var random = SeededRandom(seed: seed)
                    guard var tree = CBORTree(bytes) else { return bytes }
                    for _ in 0...random.below(2) { tree = tree.damaged(&random, most: most) }
                    return tree.bytes
                }, "extension map's tree"
            )
        case 2, 3: return (.receiptPayload { der($0) }, "receipt's tree")
        case 4:
            return (
                .receipt { bytes in
                    var random = SeededRandom(seed: seed)
                    return Mutation.damage(bytes, &random)
                }, "receipt's bytes"
            )
        case 5:
            return (
                .receiptCertificates { list in
                    var random = SeededRandom(seed: seed)
                    var list = (0...random.below(4)).map { _ in list[random.below(list.count)] }
                    let place = random.below(list.count)
                    if random.below(2) == 0 { list[place] = der(list[place]) }
                    return list
                }, "receipt's certificates"
            )
        default:
            return (
                .chain { list in
                    var random = SeededRandom(seed: seed)
                    var list = list
                    let place = random.below(list.count)
                    list[place] = der(list[place])
                    return list
                }, "x5c's trees"
            )
        }
    }
}
