// Copies of a role's audit chain in the cluster: created in order, each once, under names that say which record they are.

import * as z from 'zod'
import { type AuditLog, type AuditRecord, auditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import { auditFilterFields } from '../../../daemon/kernel/audit/audit-filter-fields.ts'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import type { OpensearchCluster } from './cluster/cluster.ts'
import { ClusterFailure, statusFailure, toRefusal } from './cluster/cluster-failure.ts'
import type { ClusterMemory } from './cluster/known-cluster.ts'
import { type BulkItemResult, bulkResponse, refreshResponse } from './cluster/response-schemas.ts'
import { concurrencyToken, writeCondition } from './document-envelope.ts'
import { buildIndexHead, openIndex } from './indexes/open-index.ts'
import { requireDurability } from './indexes/table.ts'
import { lineBytes } from './writes/document-client.ts'
import { countFitting, isTooLarge, max_request_bytes, splitInHalf } from './writes/request-size.ts'

/** How far a chain is shipped, remembered in the role's local database. */
export type ShippingPosition = { get(): number; set(seq: number): Promise<void> }

export type AuditShippingOptions = {
  /** The index that all roles of the site ship to. */
  readonly alias: string
  readonly replicas: number
  readonly memory: ClusterMemory
  readonly audit: AuditLog
  readonly position: ShippingPosition
}

/** `differs`: the number of a record whose copy in the cluster is different. Shipping stops before this record. */
export type ShippingResult = { readonly count: number; readonly differs?: number }

const batch_size = 200

export class AuditShipping {
  readonly #cluster: OpensearchCluster
  readonly #options: AuditShippingOptions
  #isOpen = false

  constructor(cluster: OpensearchCluster, given: AuditShippingOptions) {
    this.#cluster = cluster
    this.#options = given
  }

  /** Ships records that the cluster lacks; `signal` ends it early. @throws Refusal('unavailable'). */
  async ship(signal: AbortSignal): Promise<ShippingResult> {
    const { audit, position } = this.#options
    try {
      let count = 0
      while (!signal.aborted) {
        const records = await audit.list({ after_seq: position.get(), ascending: true, limit: batch_size })
        if (records.length === 0) break
        const { arrived, differs } = await this.#send(records)
        const last = records[arrived - 1]
        if (last) await position.set(last.seq)
        count += arrived
        if (differs !== undefined) return { count, differs }
      }
      return { count }
    } catch (error) {
      // The index may have been deleted: the next call checks it again.
      this.#isOpen = false
      throw toRefusal(error)
    }
  }

  /** Drops the bodies of copies of events before the instant (epoch milliseconds), as the chain has dropped its own. */
  async expire(before: number, writer: string): Promise<void> {
    const { alias } = this.#options
    await this.#open()
    for (;;) {
      await this.#cluster.request({ method: 'POST', path: `/${alias}/_refresh` }, refreshResponse)
      const query = { bool: { filter: [{ term: { writer } }, { range: { at: { lt: before } } }] } }
      const body = { query, size: batch_size, sort: [{ seq: 'asc' }] }
      const found = (
        await this.#cluster.request({ method: 'POST', path: `/${alias}/_search`, body }, copySearchResponse)
      ).hits.hits
      const lines = found.map(({ _source: { record } }) => {
        const { event: _dropped, ...sealed } = record
        return bulkLines('index', alias, sealed)
      })
      const failed = (lines.length > 0 ? await this.#bulk(lines) : []).find(({ status }) => status >= 300)
      if (failed) throw statusFailure(failed.status, failed.error?.type ?? `status ${failed.status}`)
      if (found.length < batch_size) return
    }
  }

  /** Sends records in order. `arrived`: how many of them, from the first, are durable in the cluster. */
  async #send(given: readonly AuditRecord[]): Promise<{ arrived: number; differs?: number }> {
    await this.#open()
    const all = given.map((record) => bulkLines('create', this.#options.alias, record))
    const lines = all.slice(0, countFitting(all.map(lineBytes), max_request_bytes))
    const records = given.slice(0, lines.length)
    const outcomes = await this.#bulk(lines)
    // Either an earlier request arrived and its response was lost, or another chain has the same name.
    const again = await this.#rewrite(records.filter((_, at) => outcomes[at]?.status === 409))
    for (const [at, record] of records.entries()) {
      const outcome = outcomes[at]?.status === 409 ? again.get(record) : outcomes[at]
      if (outcome === 'differs') return { arrived: at, differs: record.seq }
      if (outcome && outcome.status < 300) continue
      if (at > 0) return { arrived: at }
      if (outcome?.status === 413) throw refuse('too_large', `audit record ${record.seq} is too large for the cluster`)
      throw statusFailure(outcome?.status ?? 503, outcome?.error?.type ?? 'no outcome')
    }
    return { arrived: records.length }
  }

  /** An existing copy may not be on disk yet: it is written over itself, on condition that it has not changed. */
  async #rewrite(records: readonly AuditRecord[]): Promise<Map<AuditRecord, BulkItemResult | 'differs'>> {
    if (records.length === 0) return new Map()
    const { alias } = this.#options
    const body = { docs: records.map((record) => ({ _index: alias, _id: copyId(record) })) }
    const request = { method: 'POST', path: '/_mget', query: { preference: '_primary' }, body } as const
    const { docs } = await this.#cluster.request(request, copyMultiGetResponse)
    const answers = new Map<AuditRecord, BulkItemResult | 'differs'>()
    const same: { record: AuditRecord; lines: string[] }[] = []
    for (const [at, record] of records.entries()) {
      const copy = docs[at]
      if (!copy?.found) answers.set(record, changingCopy)
      else if (copy._source.record.hash !== record.hash) answers.set(record, 'differs')
      else same.push({ record, lines: bulkLines('index', alias, copy._source.record, writeCondition(copy)) })
    }
    const outcomes = same.length > 0 ? await this.#bulk(same.map(({ lines }) => lines)) : []
    for (const [at, { record }] of same.entries()) {
      const outcome = outcomes[at]
      answers.set(record, outcome && outcome.status !== 409 ? outcome : changingCopy)
    }
    return answers
  }

  /** The outcome of each record; a request that is too large is split in halves. 413 for a record that is too large alone. */
  async #bulk(lines: readonly (readonly string[])[]): Promise<readonly BulkItemResult[]> {
    const query = { require_alias: true }
    try {
      const request = { method: 'POST', path: '/_bulk', query, lines: lines.flat() } as const
      const { items } = await this.#cluster.request(request, bulkResponse)
      if (items.length !== lines.length)
        throw new ClusterFailure('unknown', 'the answer has another number of items than the request')
      return items
    } catch (error) {
      if (!isTooLarge(error)) throw error
      if (lines.length === 1) return [{ status: 413 }]
      const [one, other] = splitInHalf(lines)
      return [...(await this.#bulk(one)), ...(await this.#bulk(other))]
    }
  }

  async #open(): Promise<void> {
    if (this.#isOpen) return
    const { alias, replicas, memory } = this.#options
    await openIndex(this.#cluster, memory, alias, buildIndex(alias, replicas))
    await requireDurability(this.#cluster, alias)
    this.#isOpen = true
  }
}

const auditCopy = z.object({ record: auditRecord })
const copySearchResponse = z.object({ hits: z.object({ hits: z.array(z.object({ _source: auditCopy })) }) })
const copyMultiGetResponse = z.object({
  docs: z.array(
    z.union([
      z.object({ found: z.literal(true), _source: auditCopy, ...concurrencyToken.shape }),
      z.object({ found: z.literal(false) }),
    ]),
  ),
})

/** The copy existed a moment ago: another process is changing it. */
const changingCopy: BulkItemResult = { status: 503, error: { type: 'the copy is changing' } }

const keywordMapping = { type: 'keyword', ignore_above: 8_000 }

function buildIndex(alias: string, replicas: number) {
  return {
    ...buildIndexHead(alias, replicas),
    mappings: {
      dynamic: 'strict',
      properties: {
        writer: keywordMapping,
        seq: { type: 'long' },
        at: { type: 'double' },
        tenant_id: keywordMapping,
        action: keywordMapping,
        target: keywordMapping,
        subject: keywordMapping,
        label_key: keywordMapping,
        record: { type: 'object', enabled: false },
      },
    },
  }
}

function copyId({ writer, seq }: AuditRecord): string {
  return `${writer}:${String(seq).padStart(16, '0')}`
}

function bulkLines(how: 'create' | 'index', alias: string, record: AuditRecord, condition: object = {}): string[] {
  const { writer, seq, event } = record
  const found = event && auditFilterFields(event)
  return [
    JSON.stringify({ [how]: { _index: alias, _id: copyId(record), ...condition } }),
    JSON.stringify({ writer, seq, ...found, record }),
  ]
}
