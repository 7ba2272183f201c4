// People who open sessions and contribute to them without a pause, and say it again in the same words until they are answered.
import { setTimeout as pause } from 'node:timers/promises'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import type { CheckedClient, CheckedResponse } from '../../support/http/checked-client.ts'
import { sharedClassification } from '../../support/site/packaged-site-pair.ts'

/** The contributors of each session; together they ratify it. */
export const speakers = ['alice', 'bob']

/** Pause before a repeat to a site that could not answer. */
const pause_ms = 50

export class Contributors {
  /** Sessions, and `session contributor` of contributions, that some answer reported as present. */
  readonly opened: string[] = []
  readonly answered: string[] = []
  /** Answers `unavailable`; a cluster that starts may also answer too late, with `timeout`. */
  readonly refused: CheckedResponse<unknown>[] = []
  /** Requests that got no answer. */
  unanswered = 0
  readonly #person: CheckedClient
  readonly #all: Promise<unknown>
  #fault: unknown
  #isOver = false

  constructor(person: CheckedClient, lanes = 4) {
    this.#person = person
    this.#all = Promise.all(Array.from({ length: lanes }, (_, lane) => this.#speak(lane))).catch((error) => {
      this.#fault = error
    })
  }

  /** The number of acknowledged contributions. Throws at an answer that is neither an acceptance, nor `unavailable`, nor `timeout`. */
  heard(): number {
    if (this.#fault) throw this.#fault
    return this.answered.length
  }

  /** Resolves once the last of them has been answered. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#all
    this.heard()
  }

  async #speak(lane: number): Promise<void> {
    const policy = { m: speakers.length, n: speakers.length }
    const input = { lens_id: 'l', lens_version: '1', policy, classification: sharedClassification }
    const opinion = { pair_score: 0.93, accuracy: 0.95, credibility: 0.9, classification: sharedClassification }
    for (let turn = 0; !this.#isOver; turn += 1) {
      const keyOf = (what: string) => ({ 'idempotency-key': `lane-${lane}-turn-${turn}-${what}` })
      const { id } = await this.#answered(() => this.#person.call(create, input, keyOf('session')))
      this.opened.push(id)
      for (const name of speakers) {
        const contribution = { id, contributor_id: name, signer_key_id: `${name}-1`, ...opinion }
        await this.#answered(() => this.#person.call(contribute, contribution, keyOf(name)))
        this.answered.push(`${id} ${name}`)
      }
    }
  }

  async #answered<T>(act: () => Promise<CheckedResponse<T>>): Promise<T> {
    for (;;) {
      const answer = await act().catch(ignoreConnectionFailure)
      if (answer?.value !== undefined) return answer.value
      const code = answer?.problem?.code
      if (answer && code !== 'unavailable' && code !== 'timeout') throw new Error(JSON.stringify(answer))
      if (answer && code === 'unavailable') this.refused.push(answer)
      else if (!answer) this.unanswered += 1
      await pause(pause_ms)
    }
  }
}

/** No connection, or one that broke off. */
function ignoreConnectionFailure(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error
}
