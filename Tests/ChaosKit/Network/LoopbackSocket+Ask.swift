internal import Foundation

extension LoopbackSocket {
    /// Sends a question on a connection of its own, and waits for the answer, in whatever state the other side is.
    ///
    /// - Parameter take: takes what has come. - Returns: whether that is all.
    static func ask(_ port: UInt16, _ question: [UInt8], seconds: Double, take: (ArraySlice<UInt8>) -> Bool) {
        guard let socket = connecting(to: port) else { return }
        var (sent, buffer) = (0, [UInt8](repeating: 0, count: 4096))
        let deadline = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < deadline {
            if sent < question.count {
                switch socket.write(question, from: sent, most: .max) {
                case .bytes(let count): sent += count
                case .wouldBlock: break
                case .ended: return
                }
            }
            switch socket.read(into: &buffer) {
            case .bytes(let count):
                if take(buffer[..<count]) { return }
            case .wouldBlock: usleep(500)
            case .ended: return
            }
        }
    }

    /// The status of a page; nil where there is no answer in time.
    static func status(of page: String, port: UInt16, seconds: Double = 0.5) -> Int? {
        var answer: [UInt8] = []
        let question = "GET \(page) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        ask(port, Array(question.utf8), seconds: seconds) { bytes in
            answer += bytes
            return answer.contains(UInt8(ascii: "\n"))
        }
        let words = String(decoding: answer, as: UTF8.self).split(separator: " ", maxSplits: 2)
        return words.count > 1 && words[0].hasPrefix("HTTP/1.") ? Int(words[1]) : nil
    }
}
