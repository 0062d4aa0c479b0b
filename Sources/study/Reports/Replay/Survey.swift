/// A value that devices have.
struct Trait: Hashable {
    let dimension: Dimension
    let id: ValueTally.ID

    /// Where two values select the same devices, the one that says most comes first.
    static let order: [Dimension] = [.appID, .app, .bundleVersion, .osVersion, .platform, .category, .environment]
}

/// Units and hits: a device is one unit however often it asks, and so is a record that names no device. A hit is a unit
/// that met the reason.
struct Cell: Equatable {
    var units = 0
    var hits = 0
    /// Hits that were accepted another time.
    var accepted = 0
    /// The units, and the hits, that are records without a device.
    var looseUnits = 0
    var looseHits = 0
    /// The units' records, and those of them that were not accepted.
    var records = 0
    var refused = 0

    var share: Double { Double(hits) / Double(max(1, units)) }

    /// How many hits more there are than in an average sample of `all`.
    func excess(over all: Cell) -> Double { Double(hits) - Double(units) * all.share }

    func with(_ part: Cell) -> Cell { Cell(units: units + part.units, hits: hits + part.hits) }

    /// The members of `self` that `part` has not.
    func without(_ part: Cell) -> Cell {
        var rest = self
        (rest.units, rest.hits) = (units - part.units, hits - part.hits)
        (rest.looseUnits, rest.looseHits) = (looseUnits - part.looseUnits, looseHits - part.looseHits)
        return rest
    }

    mutating func add(_ device: DeviceTable.Device, isHit: Bool) {
        units += 1
        records += device.records
        refused += device.refused
        guard isHit else { return }
        hits += 1
        if device.accepted > 0 { accepted += 1 }
    }

    /// Adds records without a device.
    mutating func add(loose count: Int, hits: Int, refused: Int) {
        (units, looseUnits, records) = (units + count, looseUnits + count, records + count)
        (self.hits, looseHits, self.refused) = (self.hits + hits, looseHits + hits, self.refused + refused)
    }
}

/// A population counted by the values that are frequent enough to be compared.
struct Survey {
    /// Fewer units are too few to speak of; how many of them are hits does not matter.
    static let leastUnits = 5

    /// The frequent values, in an order that does not depend on that of the records.
    let traits: [Trait]
    private let population: Population
    /// The place in ``traits`` of each value, by dimension; −1 for others.
    private var places: [[Int32]] = []

    init(_ population: Population) {
        self.population = population
        var traits: [Trait] = []
        var sizes = Dimension.allCases.map { [Int](repeating: 0, count: population.tallies($0).count) }
        for device in population.devices.devices {
            for dimension in Trait.order { sizes[dimension.rawValue][Int(device.values[dimension.rawValue])] += 1 }
        }
        places = sizes.map { $0.map { _ in -1 } }
        for dimension in Trait.order {
            let tallies = population.tallies(dimension)
            let frequent = tallies.indices.dropFirst(2).filter { id in
                guard !tallies[id].counts.isEmpty else { return false }
                let loose = dimension == .app ? tallies[id].loose.reduce(0, +) : 0
                return sizes[dimension.rawValue][id] + loose >= Self.leastUnits
            }
            let keys = Dictionary(uniqueKeysWithValues: frequent.map { ($0, population.bytes(dimension, $0)) })
            for id in frequent.sorted(by: { (keys[$0] ?? []).lexicographicallyPrecedes(keys[$1] ?? []) }) {
                places[dimension.rawValue][id] = Int32(traits.count)
                traits.append(Trait(dimension: dimension, id: ValueTally.ID(id)))
            }
        }
        self.traits = traits
    }

    func has(_ device: DeviceTable.Device, _ trait: Trait) -> Bool {
        device.values[trait.dimension.rawValue] == trait.id
    }

    typealias Counts = (cells: [Trait: Cell], all: [Cell])

    /// - Parameters:
    ///   - reason: the outcome that is a hit; 0 = any refusal.
    ///   - left: values whose devices are left out.
    /// - Returns: a cell of each value, and one of each dimension with all whose value is known.
    func count(_ reason: Int, without left: [Trait]) -> Counts {
        var cells = [Cell](repeating: Cell(), count: traits.count)
        var all = [Cell](repeating: Cell(), count: Dimension.allCases.count)
        for device in population.devices.devices where !left.contains(where: { has(device, $0) }) {
            let isHit = reason == 0 ? device.refused > 0 : device.reasons.contains(reason)
            for dimension in Trait.order {
                let id = device.values[dimension.rawValue]
                guard id != ValueTally.unknown else { continue }
                all[dimension.rawValue].add(device, isHit: isHit)
                let place = places[dimension.rawValue][Int(id)]
                if place >= 0 { cells[Int(place)].add(device, isHit: isHit) }
            }
        }
        // A record without a device has an app at most.
        let tallies = population.tallies(.app)
        for id in tallies.indices.dropFirst() where !tallies[id].loose.isEmpty {
            guard !left.contains(Trait(dimension: .app, id: ValueTally.ID(id))) else { continue }
            let (loose, place) = (tallies[id].loose, places[Dimension.app.rawValue][id])
            let units = loose.reduce(0, +)
            let hits = reason == 0 ? units - loose[0] : loose[reason]
            all[Dimension.app.rawValue].add(loose: units, hits: hits, refused: units - loose[0])
            if place >= 0 { cells[Int(place)].add(loose: units, hits: hits, refused: units - loose[0]) }
        }
        return (Dictionary(uniqueKeysWithValues: zip(traits, cells)), all)
    }

    /// Values that select nearly the same devices as this one.
    func twins(of trait: Trait) -> [Trait] {
        var (together, sizes) = (traits.map { _ in 0 }, traits.map { _ in 0 })
        for device in population.devices.devices {
            let isOwn = has(device, trait)
            for dimension in Trait.order {
                let place = Int(places[dimension.rawValue][Int(device.values[dimension.rawValue])])
                guard place >= 0 else { continue }
                sizes[place] += 1
                if isOwn { together[place] += 1 }
            }
        }
        guard let own = traits.firstIndex(of: trait) else { return [] }
        let near = traits.indices.filter { place in
            let either = sizes[own] + sizes[place] - together[place]
            return place != own && either > 0 && together[place] * 5 >= either * 4
        }
        return near.map { traits[$0] }
    }
}
