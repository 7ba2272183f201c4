// Performs a conditional write until its outcome is certain: after a lost response, it reads the document back. The
// document may not be on disk yet, so it is made durable before it counts: see docs/decisions/0022.
import { setTimeout as rest } from 'node:timers/promises'
import * as z from 'zod'
import type { OpensearchCluster } from '../cluster/cluster.ts'
import { ClusterFailure, statusFailure } from '../cluster/cluster-failure.ts'
import { type BulkItemResult, bulkResponse, type MultiGetItem, multiGetResponse } from '../cluster/response-schemas.ts'
import { concurrencyToken, documentEnvelope, type FoundDocument, writeCondition } from '../document-envelope.ts'
import { RequestBatcher } from './request-batcher.ts'
import { waitUntilDurable } from './wait-until-durable.ts'

/**
 * A write that the cluster does at most once, however often it is sent: it creates, or it names the very state that it
 * replaces or removes. `write` is its own name, which it leaves in the document.
 */
export const conditionalWrite = z.strictObject({
  write: z.string(),
  alias: z.string(),
  /** In the cluster. */
  id: z.string(),
  /** Absent for a creation. */
  replaces: concurrencyToken.optional(),
  /** Absent for a removal. */
  source: documentEnvelope.optional(),
})
export type ConditionalWrite = z.infer<typeof conditionalWrite>

/** `lost`: the document is no longer, or was not, in the state that the write is conditional on. */
export type ConditionalWriteOutcome = 'done' | 'lost'

type DocumentLookup = { readonly alias: string; readonly id: string }

const min_pause_ms = 50
const max_pause_ms = 1_000
/** A write whose outcome is unknown is repeated this long; then its caller hears of it before its own time limit ends. */
const max_repeat_ms = 5_000
/** More lost races in a row than this are a fault. */
const max_races = 100

export class DocumentClient {
  readonly #cluster: OpensearchCluster
  #isClosing = false
  readonly #reads: RequestBatcher<DocumentLookup, MultiGetItem>
  readonly #writes: RequestBatcher<readonly string[], BulkItemResult>

  constructor(cluster: OpensearchCluster) {
    this.#cluster = cluster
    this.#reads = new RequestBatcher((lookups) => this.#getMany(lookups))
    this.#writes = new RequestBatcher((lines) => this.#writeMany(lines.flat()))
  }

  /** An active write ends with its first outcome, even an unknown one. */
  close(): void {
    this.#isClosing = true
  }

  /** The newest version, whether searches see it yet or not. @throws ClusterFailure. */
  async get(alias: string, id: string): Promise<FoundDocument | undefined> {
    const found = await this.#reads.add({ alias, id }, Buffer.byteLength(alias) + Buffer.byteLength(id) + 30)
    if ('error' in found) throw statusFailure(503, found.error.type)
    if (!found.found) return undefined
    const { _source, _seq_no, _primary_term } = found
    return { envelope: _source, token: { _seq_no, _primary_term } }
  }

  /**
   * Sends the write, and for some seconds again while its outcome is unknown, but no longer than one request may take.
   * `isRepeated`: it may have been done before this call.
   * @throws ClusterFailure: `undone` when it has had no effect and will have none; `unknown` when time ran out.
   */
  async completeWrite(write: ConditionalWrite, isRepeated = false): Promise<ConditionalWriteOutcome> {
    const lines = bulkLines(write)
    const repeat_ms = Math.min(max_repeat_ms, this.#cluster.timeout_ms)
    let latest: number | undefined
    let mayBeDone = isRepeated
    for (let pause_ms = min_pause_ms; ; pause_ms = Math.min(2 * pause_ms, max_pause_ms)) {
      try {
        return await this.#attempt(write, lines, mayBeDone)
      } catch (error) {
        if (!(error instanceof ClusterFailure)) {
          // A proxy in between may refuse the repeat of a write that was done.
          if (mayBeDone) throw new ClusterFailure('unknown', 'the repeat was refused')
          throw error
        }
        if (error.effect === 'undone' && !mayBeDone) throw error
        mayBeDone = true
        latest ??= performance.now() + repeat_ms
        const isOver = this.#isClosing || performance.now() + pause_ms > latest
        if (isOver) throw new ClusterFailure('unknown', error.type, error.retry_after_s)
      }
      await rest(pause_ms * (0.5 + Math.random() / 2))
    }
  }

  /**
   * Returns the document once it is certain to stay: it is written over itself, on condition that it has not changed. That
   * answer comes when every copy in sync has it on disk; a later writer with the same condition fails.
   * @throws ClusterFailure.
   */
  async makeDurable(alias: string, id: string): Promise<FoundDocument | undefined> {
    for (let race = 0; race < max_races; race++) {
      const held = await this.get(alias, id)
      if (!held) return undefined
      const { envelope: source, token: replaces } = held
      const { status, error } = await this.#send(bulkLines({ write: source.write, alias, id, replaces, source }))
      if (status < 300) return held
      if (status !== 409) throw statusFailure(status, error?.type ?? `status ${status}`)
    }
    throw new ClusterFailure('unknown', 'the document changes too often')
  }

  async #attempt(
    write: ConditionalWrite,
    lines: readonly string[],
    mayBeDone: boolean,
  ): Promise<ConditionalWriteOutcome> {
    const { status, error } = await this.#send(lines)
    if (status < 300) return 'done'
    const isRefused = status === 409 || (status === 404 && !error)
    if (!isRefused) throw statusFailure(status, error?.type ?? `status ${status}`)
    return mayBeDone && (await this.#isOurs(write)) ? 'done' : 'lost'
  }

  /** Whether it was our own first one that stood in the way; certain then. */
  async #isOurs({ alias, id, write, source }: ConditionalWrite): Promise<boolean> {
    const held = await this.get(alias, id)
    if (source) return held?.envelope.write === write && (await this.makeDurable(alias, id))?.envelope.write === write
    if (held) return false
    // A removal leaves nothing to write again, and an unconditional removal could remove the document of another writer.
    await waitUntilDurable(this.#cluster, alias)
    if (await this.get(alias, id)) throw new ClusterFailure('unknown', 'a removed document reappeared')
    return true
  }

  #send(lines: readonly string[]): Promise<BulkItemResult> {
    return this.#writes.add(lines, lineBytes(lines))
  }

  async #getMany(lookups: readonly DocumentLookup[]): Promise<readonly MultiGetItem[]> {
    const docs = lookups.map(({ alias, id }) => ({ _index: alias, _id: id }))
    // A copy may lag behind what the primary has acknowledged.
    const ask = () =>
      this.#cluster.request(
        { method: 'POST', path: '/_mget', query: { preference: '_primary' }, body: { docs } },
        multiGetResponse,
      )
    const answer = await ask().catch((error: unknown) => {
      // The other side may have closed a kept connection meanwhile; a repeated read is harmless.
      if (error instanceof ClusterFailure && error.type === 'the connection broke') return ask()
      throw error
    })
    return answer.docs
  }

  async #writeMany(lines: readonly string[]): Promise<readonly BulkItemResult[]> {
    // The server waits no longer for a shard than we wait for the server.
    const query = { require_alias: true, timeout: `${this.#cluster.timeout_ms}ms` }
    const answer = await this.#cluster.request({ method: 'POST', path: '/_bulk', query, lines }, bulkResponse)
    return answer.items
  }
}

/** As they are sent, each with the end of its line. */
export function lineBytes(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
}

function bulkLines({ alias, id, replaces, source }: ConditionalWrite): string[] {
  const of = { _index: alias, _id: id }
  if (!replaces) return [JSON.stringify({ create: of }), JSON.stringify(source)]
  const condition = { ...of, ...writeCondition(replaces) }
  if (!source) return [JSON.stringify({ delete: condition })]
  return [JSON.stringify({ index: condition }), JSON.stringify(source)]
}
