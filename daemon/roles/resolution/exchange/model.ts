// An exchange: a run over two deployments as one of its sites sees it, and the pieces of data that go to and fro in it.
import * as z from 'zod'
import { siteName } from '../../../kernel/messaging/transport.ts'
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
  part: z.enum(['proposer', 'asked', 'linker']).meta({ description: 'What this site is in it' }),
  state: exchangeState,
  sizes: z.record(siteName, count).meta({ description: 'How many records, or distinct keys, each party brings' }),
  agreed: z.array(siteName).meta({ description: 'Who has agreed so far, besides the proposer' }),
  failure: z.strictObject({ code: shortText, reason: z.string().max(4_096) }).optional(),
  updated_at: instant,
}

const pieceAmount = z.strictObject({ rows: count, bytes: count })

export const storedExchange = z.strictObject({
  ...provenanceFields,
  ...exchangeFields,
  request_digest: z.string(),
  agreement_digest: z.string(),
  /** The secret of this run, in hexadecimal; gone when it is over. */
  secret: z.string().optional(),
  /** The set of pieces that holds the records of this site, of a party that has agreed. */
  own: z.string().optional(),
  /** What has come of each set that another site sends, by site and round: what it told of it, and each piece. */
  coming: z
    .record(z.string(), z.strictObject({ of: count, items: count, pieces: z.record(z.string(), pieceAmount) }))
    .optional(),
  /** Sites that a proposer has told of it; absent: all. */
  told: z.array(siteName).optional(),
  /** How often the step at hand was begun since it was last done or put aside. */
  attempts: count.optional(),
  /** Public keys of the parties that agree on a key for vectors. */
  keys: z.record(siteName, z.string()),
  /** How many steps of the plan are done. */
  step: count,
  /** How often something of it was heard: work that was done meanwhile must look again. */
  heard: count,
  /** 1 while there is something to do; an index, so that the worker finds its work. */
  owes: z.union([z.literal(0), z.literal(1)]),
  /** Sites that are yet to be told how it ended here. */
  to_tell: z.array(siteName),
  /** The other party; an index. */
  peer: siteName,
  /** When this site agreed, in epoch milliseconds; 0 before. */
  agreed_ts: z.int(),
  /** There was room for it in the peer's budget: only then a first step is done. */
  is_granted: z.boolean().optional(),
})
export type StoredExchange = z.infer<typeof storedExchange>

export const exchanges = collection({
  name: 'fusion_exchange',
  schema: storedExchange,
  indexes: ['state', 'owes', 'peer', 'part', 'agreed_ts', 'created_at'],
})

/** A piece of a set of data: of this site's own records, of what it sends, of what it was sent. */
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
      .meta({ description: 'The run at this site, of a party, once all have agreed; it is there a moment later' }),
    progress: runProgress.optional().meta({ description: 'Of what is computed for it just now' }),
    warnings: z.array(z.string()).meta({ description: 'What this agreement gives away, and what it rests on' }),
  })
  .meta({ id: 'FusionExchange' })
export type ExchangeView = z.infer<typeof exchangeView>

/** `now`: how far what is computed for it is. */
export function showExchange({ id, version, value }: Doc<StoredExchange>, now?: RunProgress): ExchangeView {
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
    ...(now === undefined ? {} : { progress: now }),
    warnings: listWarnings(of),
  }
}

export function isOver({ state }: Pick<StoredExchange, 'state'>): boolean {
  return state !== 'proposed' && state !== 'running'
}

/** The run of an exchange at a site: whichever way it is found, it is one. */
export function runIdOfExchange(exchange_id: string): string {
  return exchange_id.replace('xchg_', 'run_')
}
