// Writes one after the other for each document, with their audit events owed before and sealed after.
import type { AuditEvent } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { PendingAudit } from '../../../daemon/kernel/audit/pending-audit.ts'
import { ClusterFailure } from './failure.ts'
import { type Documents, type Outcome, type Sending, sending } from './settling.ts'
import { type Rooms, WaitingRoom } from './waiting-room.ts'

export class Writes {
  readonly #documents: Documents
  readonly #owed: PendingAudit
  readonly #room: WaitingRoom
  readonly #most_in_doubt: number
  /** The last of those that wait for a document: this process never races itself. */
  readonly #turns = new Map<string, Promise<unknown>>()
  /** Writes whose outcome nobody knows yet, by document. Nothing else is done to these before. */
  readonly #unsettled = new Map<string, Sending[]>()
  #loading: Promise<void> | undefined

  constructor(documents: Documents, owed: PendingAudit, rooms: Rooms) {
    this.#documents = documents
    this.#owed = owed
    this.#room = new WaitingRoom(rooms)
    this.#most_in_doubt = rooms.all.writes
  }

  get unsettled(): number {
    return [...this.#unsettled.values()].flat().length
  }

  /**
   * Runs alone among the work on this document, in the order of the calls, when nothing about it is in doubt.
   * `bytes`: about what it holds in memory meanwhile. @throws ClusterFailure at once when too much waits already.
   */
  async inTurn<T>(alias: string, id: string, bytes: number, work: () => Promise<T>): Promise<T> {
    if (this.#unsettled.size >= this.#most_in_doubt) throw new ClusterFailure('undone', 'too many writes are in doubt')
    const key = keyOf(alias, id)
    const leave = this.#room.enter(key, bytes)
    try {
      return await this.#turn(key, work)
    } finally {
      leave()
    }
  }

  async #turn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(key)
    const mine = (async () => {
      await before?.catch(() => undefined)
      await this.#load()
      await this.#settleOf(key)
      return await work()
    })()
    this.#turns.set(key, mine)
    try {
      return await mine
    } finally {
      if (this.#turns.get(key) === mine) this.#turns.delete(key)
    }
  }

  /**
   * For use in turn. An unknown outcome is kept, and settled before the document is touched again, after a restart too.
   * @throws ClusterFailure.
   */
  async send(write: Sending, events: readonly AuditEvent[] = []): Promise<Outcome> {
    if (events.length === 0) return await this.#documents.settle(write)
    await this.#owed.begin({ write: write.write, plan: JSON.stringify(write) }, events)
    return await this.#conclude(write, false)
  }

  /**
   * Settles every write in doubt that can be settled now, each by itself: none waits for another index to come back.
   * Answers with what stood in the way, by index. @throws when what an earlier process left cannot be read.
   */
  async settle(alias?: string): Promise<Map<string, unknown>> {
    await this.#load()
    const failures = new Map<string, unknown>()
    const doubtful = [...this.#unsettled].map(([key, [first]]) => ({ key, of: first?.alias ?? '' }))
    const wanted = doubtful.filter(({ of }) => !alias || of === alias)
    const settling = wanted.map(({ key, of }) =>
      this.#turn(key, async () => undefined).catch((error: unknown) => {
        failures.set(of, error)
      }),
    )
    await Promise.all(settling)
    return failures
  }

  /** Waits for what is under way. */
  async idle(): Promise<void> {
    while (this.#turns.size > 0) await Promise.allSettled(this.#turns.values())
  }

  /** What an earlier process left in doubt. */
  #load(): Promise<void> {
    this.#loading ??= this.#owed.pending().then((all) => {
      for (const { plan } of all) this.#note(sending.parse(JSON.parse(plan)))
    })
    this.#loading.catch(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #settleOf(key: string): Promise<void> {
    for (const write of [...(this.#unsettled.get(key) ?? [])]) await this.#conclude(write, true)
  }

  /** Leaves the write among those in doubt until both the cluster and this disk have done their part. */
  async #conclude(write: Sending, isRepeated: boolean): Promise<Outcome> {
    const outcome = await this.#documents.settle(write, isRepeated).catch(async (error: unknown) => {
      const isInDoubt = error instanceof ClusterFailure && error.effect === 'unknown'
      if (isInDoubt) this.#note(write)
      else await this.#end(write, 'lost')
      throw error
    })
    await this.#end(write, outcome)
    return outcome
  }

  async #end(write: Sending, outcome: Outcome): Promise<void> {
    try {
      if (outcome === 'done') await this.#owed.seal(write.write)
      else await this.#owed.drop(write.write)
    } catch (error) {
      this.#note(write)
      throw error
    }
    const key = keyOf(write.alias, write.id)
    const left = (this.#unsettled.get(key) ?? []).filter((each) => each.write !== write.write)
    if (left.length > 0) this.#unsettled.set(key, left)
    else this.#unsettled.delete(key)
  }

  #note(write: Sending): void {
    const key = keyOf(write.alias, write.id)
    const known = this.#unsettled.get(key) ?? []
    if (!known.some((each) => each.write === write.write)) this.#unsettled.set(key, [...known, write])
  }
}

function keyOf(alias: string, id: string): string {
  return `${alias} ${id}`
}
