#if DEBUG
  /// Tells the fail-points that an effect was answered, and does nothing else of its own. The stream thread comes to
  /// `effect-sent` when it begins the transaction that is to record the answer.
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
