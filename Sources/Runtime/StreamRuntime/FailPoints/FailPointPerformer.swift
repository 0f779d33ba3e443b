#if DEBUG
  /// Wraps a performer, and notes replies. The fail-point `effect-sent` is reached when the transaction with a reply begins.
  struct FailPointPerformer<Effect: Sendable, Reply: Sendable>: EffectPerformer {
    private let base: any EffectPerformer<Effect, Reply>
    private let points: FailPoints

    init(_ base: any EffectPerformer<Effect, Reply>, _ points: FailPoints) {
      self.base = base
      self.points = points
    }

    func perform(_ effect: Effect, reply: @escaping @Sendable (Reply) -> Void) {
      let points = points
      base.perform(effect) {
        points.noteAnswer()
        reply($0)
      }
    }

    func stop() { base.stop() }
  }
#endif
