// The reports of one connection that its list of tools may have changed, for one reader that may be busy meanwhile.
import { isRefusal, type Refusal } from '../../../daemon/kernel/error/errors.ts'

export class ChangeWatch {
  #hasChanged = false
  /** The first end counts: what follows a broken stream is its consequence. */
  #end: 'ended' | Refusal | undefined
  #wake: () => void = () => undefined

  report(outcome: 'changed' | 'ended' | Refusal): void {
    if (outcome === 'changed') this.#hasChanged = true
    else this.#end ??= outcome
    this.#wake()
  }

  /** Several changes since the last wait are one. Throws the refusal that ended the reports. */
  async wait(signal: AbortSignal): Promise<'changed' | 'ended'> {
    while (!signal.aborted && !this.#hasChanged && this.#end === undefined) await this.#nextReport(signal)
    if (isRefusal(this.#end)) throw this.#end
    if (signal.aborted || this.#end !== undefined) return 'ended'
    this.#hasChanged = false
    return 'changed'
  }

  async #nextReport(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const onAbort = () => resolve()
    signal.addEventListener('abort', onAbort)
    await promise
    signal.removeEventListener('abort', onAbort)
  }
}
