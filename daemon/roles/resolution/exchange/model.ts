// An exchange: a run over the records of two sites as one of its sites stores it, and the pieces of data that travel in it.
import * as z from 'zod'
import { siteName } from '../../../kernel/messaging/statement.ts'
import { collection, type Doc } from '../../../kernel/store/store.ts'
import { count, instant, provenanceFields, provenanceViewFields, shortText, uid } from '../fields.ts'
import { type RunProgress, runProgress } from '../fusion-run/model.ts'
import { exchangeAgreement, exchangeId, listWarnings } from './agreement/agreement.ts'

export const exchangeState = z.enum(['proposed', 'running', 'completed', 'declined', 'cancelled', 'failed'])
export type ExchangeState = z.infer<typeof exchangeState>

export const exchangeRound = z.enum(['records', 'points', 'tags', 'places', 'vectors', 'pairs'])
export type ExchangeRound = z.infer<typeof exchangeRound>

const exchangeFields = {
  agreement: exchangeAgreement,
  part: z.enum(['proposer', 'asked', 'linker']).meta({ description: 'Part of this site in the exchange' }),
  state: exchangeState,
  sizes: z.record(siteName, count).meta({ description: 'Records, or distinct keys, of each party' }),
  agreed: z.array(siteName).meta({ description: 'Sites that have agreed so far, besides the proposer' }),
  failure: z.strictObject({ code: shortText, reason: z.string().max(4_096) }).optional(),
  updated_at: instant,
}

const pieceAmount = z.strictObject({ rows: count, bytes: count })

export const storedExchange = z.strictObject({
  ...provenanceFields,
  ...exchangeFields,
  request_digest: z.string(),
  agreement_digest: z.string(),
  /** The secret of this exchange, in hexadecimal; removed when it ends. */
  secret: z.string().optional(),
  /** The set of pieces that holds the records of this site; only of a party that has agreed. */
  own: z.string().optional(),
  /** Pieces received of each set, by sending site and round, with the piece and item counts that the sender announced. */
  coming: z
    .record(z.string(), z.strictObject({ of: count, items: count, pieces: z.record(z.string(), pieceAmount) }))
    .optional(),
  /** Sites that the proposer has notified; absent: all. */
  told: z.array(siteName).optional(),
  /** Times that the current step was begun since it last completed or was interrupted in order. */
  attempts: count.optional(),
  /** Public keys of the parties that agree on a key for vectors. */
  keys: z.record(siteName, z.string()),
  /** Completed steps of the plan. */
  step: count,
  /** Counts messages received: work that ran meanwhile must read the exchange again. */
  heard: count,
  /** 1 while work is pending; an index, so that the worker finds it. */
  owes: z.union([z.literal(0), z.literal(1)]),
  /** Sites that have not yet been notified of the end here. */
  to_tell: z.array(siteName),
  /** The other party; an index. */
  peer: siteName,
  /** When this site agreed, in epoch milliseconds; 0 before. */
  agreed_ts: z.int(),
  /** The budget of the peer allows the exchange. No step runs before. */
  is_granted: z.boolean().optional(),
})
export type StoredExchange = z.infer<typeof storedExchange>

export const exchanges = collection({
  name: 'fusion_exchange',
  schema: storedExchange,
  indexes: ['state', 'owes', 'peer', 'part', 'agreed_ts', 'created_at'],
})

/** A piece of a set of data: of the records of this site, of a set that it sends, or of one that it receives. */
export const storedPiece = z.strictObject({
  tenant_id: z.string(),
  exchange_id: exchangeId,
  from: siteName,
  what: z.string().max(32),
  number: count,
  /** Pieces of the set. */
  of: count,
  /** Items of the whole set. */
  items: count,
  data: z.string(),
})
export type StoredPiece = z.infer<typeof storedPiece>

export const exchangePieces = collection({
  name: 'fusion_exchange_piece',
  schema: storedPiece,
  indexes: ['exchange_id'],
})

export const exchangeView = z
  .strictObject({
    uid: exchangeId,
    version: z.int().min(1),
    ...provenanceViewFields,
    ...exchangeFields,
    run_id: uid
      .optional()
      .meta({ description: 'The run of a party at its site, once all sites have agreed; it exists a moment later' }),
    progress: runProgress.optional().meta({ description: 'Progress of the current computation' }),
    warnings: z
      .array(z.string())
      .meta({ description: 'What this agreement gives away, and the assumptions it rests on' }),
  })
  .meta({ id: 'FusionExchange' })
export type ExchangeView = z.infer<typeof exchangeView>

/** `progress`: of the current computation. */
export function showExchange({ id, version, value }: Doc<StoredExchange>, progress?: RunProgress): ExchangeView {
  const { tenant_id, label: classification, created_by, created_at } = value
  const { agreement: of, part, state, sizes, agreed, failure, updated_at } = value
  const hasRun = part !== 'linker' && (state === 'running' || state === 'completed')
  return {
    uid: id,
    version,
    tenant_id,
    classification,
    created_by,
    created_at,
    agreement: of,
    part,
    state,
    sizes,
    agreed,
    ...(hasRun ? { run_id: runIdOfExchange(id) } : {}),
    ...(failure === undefined ? {} : { failure }),
    updated_at,
    ...(progress === undefined ? {} : { progress }),
    warnings: listWarnings(of),
  }
}

export function isOver({ state }: Pick<StoredExchange, 'state'>): boolean {
  return state !== 'proposed' && state !== 'running'
}

/** The id of the run of an exchange at a site, derived so that each exchange has exactly one. */
export function runIdOfExchange(exchange_id: string): string {
  return exchange_id.replace('xchg_', 'run_')
}
