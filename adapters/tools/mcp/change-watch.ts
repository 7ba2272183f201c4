// The reports of one connection that its list of tools may have changed: none is lost between two waits, or counted twice.
import { isRefusal, type Refusal } from '../../../daemon/kernel/error/errors.ts'
import { Waits } from './waits.ts'

/** How reports end: with their service, before they begin, or with a failure. */
type EndOfReports = 'ended' | 'unsupported' | Refusal

export class ChangeWatch {
  #changes = 0
  /** Of the changes, those that a wait has returned. */
  #returned = 0
  /** The first end counts: what follows it is its consequence. */
  #end: EndOfReports | undefined
  readonly #reports = new Waits()

  report(outcome: 'changed' | EndOfReports): void {
    if (outcome === 'changed') this.#changes += 1
    else this.#end ??= outcome
    this.#reports.wake()
  }

  /** Changes since the last wait are one, for all that wait meanwhile. Throws the refusal that ended the reports. */
  async wait(signal: AbortSignal): Promise<'changed' | 'ended' | 'unsupported'> {
    const returned = this.#returned
    while (!signal.aborted && this.#changes === returned && this.#end === undefined) await this.#reports.wait(signal)
    if (signal.aborted) return 'ended'
    if (isRefusal(this.#end)) throw this.#end
    if (this.#end !== undefined) return this.#end
    this.#returned = this.#changes
    return 'changed'
  }
}
