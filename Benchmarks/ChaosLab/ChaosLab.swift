@main
struct ChaosLab {
    static func main() {}
}
