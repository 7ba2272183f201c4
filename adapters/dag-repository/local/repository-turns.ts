// Turns at a repository: one change at a time, of this process and of others.
import { setTimeout } from 'node:timers/promises'
import { refuse } from '../../../daemon/kernel/error/errors.ts'

/** Undefined while another process has it. It must end with its process. */
export type TakeRepositoryLock = () => { release(): void } | undefined

const [look_ms, patience_ms] = [20, 60_000]

/** Longer than between two looks: one process after another gets a turn, and none again and again. */
const rest_ms = 2 * look_ms

export class RepositoryTurns {
  readonly #take: TakeRepositoryLock
  #last: Promise<unknown> = Promise.resolve()

  constructor(take: TakeRepositoryLock) {
    this.#take = take
  }

  /** Throws `Refusal('unavailable')` where others keep the repository for too long. */
  async run<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => this.#runLocked(act))
    this.#last = turn.catch(() => undefined).then(() => setTimeout(rest_ms))
    return await turn
  }

  async #runLocked<T>(act: () => Promise<T>): Promise<T> {
    const lock = await waitFor(this.#take)
    try {
      return await act()
    } finally {
      lock.release()
    }
  }
}

/** Waits until `take` gives something. */
export async function waitFor<T>(take: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const until_ms = performance.now() + patience_ms
  for (;;) {
    const taken = await take()
    if (taken !== undefined) return taken
    if (performance.now() > until_ms) throw refuse('unavailable', 'another process keeps the DAG repository locked')
    await setTimeout(look_ms)
  }
}
