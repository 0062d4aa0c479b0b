internal import Foundation
internal import Worker

@main
struct Main {
    static func main() {
        exit(AttestWorker.main(Array(CommandLine.arguments.dropFirst())))
    }
}
