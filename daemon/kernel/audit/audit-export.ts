// The lines of an audit export beside its records, and the rule that compares exported records with what the site signed.
import * as z from 'zod'
import { jws } from '../cryptography/signatures.ts'
import { carriedCheckpoint } from '../messaging/inventory.ts'
import { siteName } from '../messaging/statement.ts'
import { type AuditRecord, type ChainHead, verifyChain } from './audit-chain.ts'

const hash = z.string().regex(/^[0-9a-f]{64}$/)
const seq = z.int().min(1)

const exportedChain = z.strictObject({
  writer: z.string().min(1).max(256),
  first: seq,
  prev: hash.meta({ description: 'Hash of the record before the first; 64 zeros before record 1' }),
  last: seq,
  hash: hash.meta({ description: 'Hash of the last record' }),
  expired: z
    .array(z.strictObject({ first: seq, last: seq }))
    .max(1_024)
    .meta({ description: 'Runs of records whose event had expired, rising' }),
})
/** The exact range of one chain in an export. */
export type ExportedChain = z.infer<typeof exportedChain>

/** What the site signs at the end of an export: the exact range of each chain in it. */
export const auditExportStatement = z.strictObject({
  v: z.literal(1),
  type: z.literal('platform.audit-export'),
  site: siteName,
  created: z.iso.datetime(),
  since: z.iso.datetime().optional(),
  until: z.iso.datetime().optional(),
  chains: z.array(exportedChain).max(64),
})
export type AuditExportStatement = z.infer<typeof auditExportStatement>

/** The last line of an export. */
export const auditExportLine = z.strictObject({
  type: z.literal('platform.audit-export'),
  v: z.literal(1),
  signature: jws,
})

/** A head that role `site` signed earlier, before the records of its chain. */
export const checkpointLine = carriedCheckpoint.extend({ type: z.literal('platform.checkpoint'), v: z.literal(1) })

/** Follows the records of one chain in an export, oldest first, and keeps the first fault. */
export class ExportedChainReader {
  readonly writer: string
  readonly #checkpoints: readonly ChainHead[]
  #first: Pick<ExportedChain, 'first' | 'prev'> | undefined
  #head = { seq: 0, hash: '' }
  readonly #expired: ExportedChain['expired'] = []
  #fault: string | undefined

  /** `checkpoints`: heads that the records must hold. */
  constructor(writer: string, checkpoints: readonly ChainHead[]) {
    this.writer = writer
    this.#checkpoints = checkpoints
  }

  get fault(): string | undefined {
    return this.#fault
  }

  /** Records a fault that the records themselves do not show. */
  refuse(fault: string): void {
    this.#fault ??= fault
  }

  take(record: AuditRecord): void {
    if (!this.#first) {
      this.#first = { first: record.seq, prev: record.prev }
      this.#head = { seq: record.seq - 1, hash: record.prev }
    }
    const found = verifyChain([record], this.#head)
    if (found) this.#fault ??= `record ${found.seq} is ${found.fault === 'reordered' ? 'out of order' : found.fault}`
    const checkpoint = this.#checkpoints.find((head) => head.seq === record.seq)
    if (checkpoint && checkpoint.hash !== record.hash)
      this.#fault ??= `the chain was rewritten: the checkpoint at record ${record.seq} does not match`
    if (record.event === undefined) this.#noteExpired(record.seq)
    this.#head = { seq: record.seq, hash: record.hash }
  }

  /** The range so far; undefined before the first record. */
  get range(): ExportedChain | undefined {
    const { seq: last, hash } = this.#head
    return this.#first && { writer: this.writer, ...this.#first, last, hash, expired: this.#expired }
  }

  #noteExpired(seq: number): void {
    const run = this.#expired.at(-1)
    if (run?.last === seq - 1) run.last = seq
    else this.#expired.push({ first: seq, last: seq })
  }
}

/** The first difference between the records in an export and the range that the site signed; undefined when there is none. */
export function findRangeFault(found: ExportedChain | undefined, signed: ExportedChain): string | undefined {
  if (!found) return `records ${signed.first} to ${signed.last} are missing`
  if (found.first > signed.first) return `record ${signed.first} is missing`
  if (found.first < signed.first) return `record ${found.first} was added`
  if (found.prev !== signed.prev)
    return `record ${found.first} is altered: it follows another record than the signed one`
  if (found.last < signed.last) return `record ${found.last + 1} is missing: the chain was cut short`
  if (found.last > signed.last) return `record ${signed.last + 1} was added`
  if (found.hash !== signed.hash)
    return `the chain was rewritten: the signed head at record ${signed.last} does not match`
  const stripped = firstDifference(found.expired, signed.expired)
  return stripped === undefined ? undefined : `record ${stripped} is altered: its event is not there as it was signed`
}

/** The lowest number that is in one of the rising runs alone. */
function firstDifference(one: ExportedChain['expired'], other: ExportedChain['expired']): number | undefined {
  for (let index = 0; index < Math.max(one.length, other.length); index++) {
    const [a, b] = [one[index], other[index]]
    if (!a || !b) return (a ?? b)?.first
    if (a.first !== b.first) return Math.min(a.first, b.first)
    if (a.last !== b.last) return Math.min(a.last, b.last) + 1
  }
  return undefined
}
