// Writes one after the other for each document; their audit events are pending before and sealed after.
import type { AuditEvent } from '../../../../daemon/kernel/audit/audit-chain.ts'
import type { PendingAudit } from '../../../../daemon/kernel/audit/pending-audit.ts'
import { ClusterFailure } from '../cluster/cluster-failure.ts'
import {
  type ConditionalWrite,
  type ConditionalWriteOutcome,
  conditionalWrite,
  type DocumentClient,
} from './document-client.ts'
import { type BacklogLimits, default_backlog_limits, WriteBackpressure } from './write-backpressure.ts'

export class WriteQueue {
  readonly #documents: DocumentClient
  readonly #pendingAudit: PendingAudit
  readonly #backpressure: WriteBackpressure
  readonly #max_in_doubt: number
  /** The last of those that wait for a document: this process never races itself. */
  readonly #turns = new Map<string, Promise<unknown>>()
  /** Writes without a known outcome, by document. No other write of the document starts before it is known. */
  readonly #unresolved = new Map<string, ConditionalWrite[]>()
  #loading: Promise<void> | undefined

  constructor(documents: DocumentClient, pendingAudit: PendingAudit, limits: BacklogLimits = default_backlog_limits) {
    this.#documents = documents
    this.#pendingAudit = pendingAudit
    this.#backpressure = new WriteBackpressure(limits)
    this.#max_in_doubt = limits.all.writes
  }

  get unresolved(): number {
    return [...this.#unresolved.values()].flat().length
  }

  /**
   * Runs alone among the work on this document, in the order of the calls, when nothing about it is in doubt.
   * `bytes`: about what it holds in memory meanwhile. @throws ClusterFailure at once when too much waits already.
   */
  async inTurn<T>(alias: string, id: string, bytes: number, work: () => Promise<T>): Promise<T> {
    if (this.#unresolved.size >= this.#max_in_doubt) throw new ClusterFailure('undone', 'too many writes are in doubt')
    const key = documentKey(alias, id)
    const leave = this.#backpressure.enter(key, bytes)
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
      await this.#resolveDocument(key)
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
  async send(write: ConditionalWrite, events: readonly AuditEvent[] = []): Promise<ConditionalWriteOutcome> {
    if (events.length === 0) return await this.#documents.completeWrite(write)
    await this.#pendingAudit.begin({ write: write.write, plan: JSON.stringify(write) }, events)
    return await this.#conclude(write, false)
  }

  /**
   * Settles every write in doubt that can be settled now, each by itself: none waits for another index to come back.
   * Answers with what stood in the way, by index. @throws when what an earlier process left cannot be read.
   */
  async resolveAll(alias?: string): Promise<Map<string, unknown>> {
    await this.#load()
    const failures = new Map<string, unknown>()
    const doubtful = [...this.#unresolved].map(([key, [first]]) => ({ key, of: first?.alias ?? '' }))
    const wanted = doubtful.filter(({ of }) => !alias || of === alias)
    const settling = wanted.map(({ key, of }) =>
      this.#turn(key, async () => undefined).catch((error: unknown) => {
        failures.set(of, error)
      }),
    )
    await Promise.all(settling)
    return failures
  }

  /** Waits for active writes. */
  async idle(): Promise<void> {
    while (this.#turns.size > 0) await Promise.allSettled(this.#turns.values())
  }

  /** Loads the writes that an earlier process left without a known outcome. */
  #load(): Promise<void> {
    this.#loading ??= this.#pendingAudit.pending().then((all) => {
      for (const { plan } of all) this.#note(conditionalWrite.parse(JSON.parse(plan)))
    })
    this.#loading.catch(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #resolveDocument(key: string): Promise<void> {
    for (const write of [...(this.#unresolved.get(key) ?? [])]) await this.#conclude(write, true)
  }

  /** Leaves the write among those in doubt until both the cluster and this disk have done their part. */
  async #conclude(write: ConditionalWrite, isRepeated: boolean): Promise<ConditionalWriteOutcome> {
    const outcome = await this.#documents.completeWrite(write, isRepeated).catch(async (error: unknown) => {
      const isInDoubt = error instanceof ClusterFailure && error.effect === 'unknown'
      if (isInDoubt) this.#note(write)
      else await this.#end(write, 'lost')
      throw error
    })
    await this.#end(write, outcome)
    return outcome
  }

  async #end(write: ConditionalWrite, outcome: ConditionalWriteOutcome): Promise<void> {
    try {
      if (outcome === 'done') await this.#pendingAudit.seal(write.write)
      else await this.#pendingAudit.drop(write.write)
    } catch (error) {
      this.#note(write)
      throw error
    }
    const key = documentKey(write.alias, write.id)
    const left = (this.#unresolved.get(key) ?? []).filter((each) => each.write !== write.write)
    if (left.length > 0) this.#unresolved.set(key, left)
    else this.#unresolved.delete(key)
  }

  #note(write: ConditionalWrite): void {
    const key = documentKey(write.alias, write.id)
    const known = this.#unresolved.get(key) ?? []
    if (!known.some((each) => each.write === write.write)) this.#unresolved.set(key, [...known, write])
  }
}

function documentKey(alias: string, id: string): string {
  return `${alias} ${id}`
}
