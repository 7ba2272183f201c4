// The hold-out in the memory of one process: its key, and how many traces each artifact was eligible for.
import type { EffectSamples } from './judge-effect.ts'

const max_artifacts = 20_000

export class HoldoutBook {
  /** Undefined until it was read. */
  key: Uint8Array | undefined
  /** Of the newest effect that was read. */
  newest_ts = 0
  /** When effects of other processes were last read. */
  followed_ms = Number.NEGATIVE_INFINITY
  readonly #eligible = new Map<string, number>()

  countEligible(artifact_id: string): number {
    return this.#eligible.get(artifact_id) ?? 0
  }

  note(artifact_id: string, { attached, held_out }: EffectSamples): void {
    this.#eligible.delete(artifact_id)
    this.#eligible.set(artifact_id, attached.trials + held_out.trials)
    const [oldest] = this.#eligible.keys()
    if (this.#eligible.size > max_artifacts && oldest !== undefined) this.#eligible.delete(oldest)
  }
}
