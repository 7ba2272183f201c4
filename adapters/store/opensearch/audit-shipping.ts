// Copies of a role's audit chain in the cluster: created in order, each once, under names that say which record they are.
import * as z from 'zod'
import { type AuditLog, type AuditRecord, auditRecord } from '../../../daemon/kernel/audit.ts'
import { refuse } from '../../../daemon/kernel/errors.ts'
import { labelKey } from '../../../daemon/kernel/label.ts'
import { refreshed, type Written, written } from './answers.ts'
import type { Cluster } from './cluster.ts'
import { asRefusal, ClusterFailure, statusFailure } from './failure.ts'
import { halves, isTooLarge, most_bytes, portion } from './portion.ts'
import { bytesOf } from './settling.ts'
import { requireDurability } from './table.ts'

/** How far a chain is shipped, remembered in the role's local database. */
export type ShippedTo = { get(): number; set(seq: number): Promise<void> }

export type Shipping = {
  /** The index that all roles of the site ship to. */
  readonly alias: string
  readonly replicas: number
  readonly audit: AuditLog
  readonly shippedTo: ShippedTo
}

/** `differs`: the number of a record of which the cluster holds another; nothing is shipped from there on. */
export type Shipped = { readonly count: number; readonly differs?: number }

const chunk = 200

export class AuditShipping {
  readonly #cluster: Cluster
  readonly #given: Shipping
  #isOpen = false

  constructor(cluster: Cluster, given: Shipping) {
    this.#cluster = cluster
    this.#given = given
  }

  /** Ships what is not there yet, and ends early when `signal` says so. @throws Refused('unavailable'). */
  async ship(signal: AbortSignal): Promise<Shipped> {
    const { audit, shippedTo } = this.#given
    try {
      let count = 0
      while (!signal.aborted) {
        const records = await audit.list({ after_seq: shippedTo.get(), ascending: true, limit: chunk })
        if (records.length === 0) break
        const { arrived, differs } = await this.#send(records)
        const last = records[arrived - 1]
        if (last) await shippedTo.set(last.seq)
        count += arrived
        if (differs !== undefined) return { count, differs }
      }
      return { count }
    } catch (error) {
      throw asRefusal(error)
    }
  }

  /** Drops the bodies of copies of events before the instant (epoch milliseconds), as the chain has dropped its own. */
  async expire(before: number, writer: string): Promise<void> {
    const { alias } = this.#given
    await this.#open()
    for (;;) {
      await this.#cluster.ask({ method: 'POST', path: `/${alias}/_refresh` }, refreshed)
      const query = { bool: { filter: [{ term: { writer } }, { range: { at: { lt: before } } }] } }
      const body = { query, size: chunk, sort: [{ seq: 'asc' }] }
      const found = (await this.#cluster.ask({ method: 'POST', path: `/${alias}/_search`, body }, copies)).hits.hits
      const lines = found.map(({ _source: { record } }) => {
        const { event: _dropped, ...sealed } = record
        return linesOf('index', alias, sealed)
      })
      const failed = (lines.length > 0 ? await this.#bulk(lines) : []).find(({ status }) => status >= 300)
      if (failed) throw statusFailure(failed.status, failed.error?.type ?? `status ${failed.status}`)
      if (found.length < chunk) return
    }
  }

  /** How many of the records, from the first on, are in the cluster now. */
  async #send(given: readonly AuditRecord[]): Promise<{ arrived: number; differs?: number }> {
    await this.#open()
    const all = given.map((record) => linesOf('create', this.#given.alias, record))
    const lines = all.slice(0, portion(all.map(bytesOf), most_bytes))
    const records = given.slice(0, lines.length)
    const outcomes = await this.#bulk(lines)
    for (const [at, record] of records.entries()) {
      const outcome = outcomes[at]
      if (outcome?.status === 201) continue
      if (outcome?.status === 409) {
        // Sent before, and the answer was lost; or another chain of this name.
        if (await this.#holds(record)) continue
        return { arrived: at, differs: record.seq }
      }
      if (at > 0) return { arrived: at }
      if (outcome?.status === 413) throw refuse('too_large', `audit record ${record.seq} is too large for the cluster`)
      throw statusFailure(outcome?.status ?? 503, outcome?.error?.type ?? 'no outcome')
    }
    return { arrived: records.length }
  }

  async #holds(record: AuditRecord): Promise<boolean> {
    const docs = [{ _index: this.#given.alias, _id: idOf(record) }]
    const answer = await this.#cluster.ask({ method: 'POST', path: '/_mget', body: { docs } }, fetched)
    return answer.docs[0]?._source?.record.hash === record.hash
  }

  /** The outcome of each, by halves where all of them are too large for one request; 413 for what is too large alone. */
  async #bulk(lines: readonly (readonly string[])[]): Promise<readonly Written[]> {
    const query = { require_alias: true }
    try {
      const request = { method: 'POST', path: '/_bulk', query, lines: lines.flat() } as const
      const { items } = await this.#cluster.ask(request, written)
      if (items.length !== lines.length) throw new ClusterFailure('unknown', 'an answer of another length')
      return items
    } catch (error) {
      if (!isTooLarge(error)) throw error
      if (lines.length === 1) return [{ status: 413 }]
      const [one, other] = halves(lines)
      return [...(await this.#bulk(one)), ...(await this.#bulk(other))]
    }
  }

  async #open(): Promise<void> {
    if (this.#isOpen) return
    const { alias, replicas } = this.#given
    const exists = () => this.#cluster.ask({ method: 'HEAD', path: `/${alias}` }, z.boolean())
    if (!(await exists())) {
      const request = { method: 'PUT', path: `/${alias}-1`, body: indexOf(alias, replicas) } as const
      // Another role of the site may have been faster.
      await this.#cluster.ask(request, z.unknown()).catch(async (error: unknown) => {
        if (!(await exists())) throw error
      })
    }
    await requireDurability(this.#cluster, alias)
    this.#isOpen = true
  }
}

const copy = z.object({ record: auditRecord })
const copies = z.object({ hits: z.object({ hits: z.array(z.object({ _source: copy })) }) })
const fetched = z.object({ docs: z.array(z.object({ _source: copy.optional() })) })

const word = { type: 'keyword', ignore_above: 8_000 }

function indexOf(alias: string, replicas: number) {
  return {
    aliases: { [alias]: { is_write_index: true } },
    settings: { number_of_shards: 1, number_of_replicas: replicas, 'translog.durability': 'request' },
    mappings: {
      dynamic: 'strict',
      properties: {
        writer: word,
        seq: { type: 'long' },
        at: { type: 'double' },
        tenant_id: word,
        action: word,
        target: word,
        subject: word,
        label_key: word,
        record: { type: 'object', enabled: false },
      },
    },
  }
}

function idOf({ writer, seq }: AuditRecord): string {
  return `${writer}:${String(seq).padStart(16, '0')}`
}

function linesOf(how: 'create' | 'index', alias: string, record: AuditRecord): string[] {
  const { writer, seq, event } = record
  const found = event && {
    at: Date.parse(event.at),
    tenant_id: event.tenant_id,
    action: event.action,
    target: event.target,
    subject: event.subject,
    ...(event.label ? { label_key: labelKey(event.label) } : {}),
  }
  return [
    JSON.stringify({ [how]: { _index: alias, _id: idOf(record) } }),
    JSON.stringify({ writer, seq, ...found, record }),
  ]
}
