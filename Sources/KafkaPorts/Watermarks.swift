/// A partition's oldest offset and the one after the newest record that the asking client may see.
package struct Watermarks: Sendable, Equatable {
    package var low: Int64
    package var high: Int64

    package init(low: Int64, high: Int64) {
        self.low = low
        self.high = high
    }
}
