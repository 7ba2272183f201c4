// An exchange: a run over the records of two sites, as one of the sites stores it, and the pieces of data sent in it.
import * as z from 'zod'
import { delayFields, showDelay } from '../../../kernel/job/job-delay.ts'
import { job_indexes, jobFields } from '../../../kernel/job/job-fields.ts'
import { endJob, newJob } from '../../../kernel/job/rules.ts'
import { siteName } from '../../../kernel/messaging/statement.ts'
import { sealedSecret } from '../../../kernel/secret/sealed-secret.ts'
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
  agreed: z.array(siteName).meta({ description: 'Sites other than the proposer that have agreed so far' }),
  failure: z.strictObject({ code: shortText, reason: z.string().max(4_096) }).optional(),
  updated_at: instant,
}

const pieceAmount = z.strictObject({ rows: count, bytes: count })

const storedExchange = z.strictObject({
  ...provenanceFields,
  ...exchangeFields,
  ...jobFields,
  request_digest: z.string(),
  agreement_digest: z.string(),
  /** The secret of this site in the exchange; removed when it ends. An earlier release stored it as hexadecimal text. */
  secret: z.union([sealedSecret, z.string()]).optional(),
  /** The set of pieces with the records of this site; only at a party that has agreed. */
  own: z.string().optional(),
  /**
   * Pieces received of each set, by sending site and round, with the piece and item counts that the sender announced.
   */
  coming: z
    .record(z.string(), z.strictObject({ of: count, items: count, pieces: z.record(z.string(), pieceAmount) }))
    .optional(),
  /** Sites that the proposer has notified; all sites when absent. */
  told: z.array(siteName).optional(),
  /** Public keys of the parties that agree on a key for vectors. */
  keys: z.record(siteName, z.string()),
  /** Completed steps of the plan. */
  step: count,
  /** Sites still to be notified that the exchange ended here. */
  to_tell: z.array(siteName),
  /** The other party; an index. */
  peer: siteName,
  /** Time of this site's agreement, in epoch milliseconds; 0 before. */
  agreed_ts: z.int(),
  /** Whether the budget of the peer allows the exchange. No step runs before it is true. */
  is_granted: z.boolean().optional(),
  /** Only in documents of versions without jobs: 1 while work was pending. */
  owes: z.literal(1).optional(),
})
export type StoredExchange = z.infer<typeof storedExchange>

/**
 * Reads an exchange that a version without jobs stored; any other value unchanged. The job of an open exchange that a person
 * of this site began has failed, since no principal was stored for it; what the site itself has to do waits.
 */
export function adoptEarlierExchange(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || 'job' in value || !('owes' in value)) return value
  const { owes, heard: _heard, attempts: _attempts, ...rest } = value as EarlierExchange
  const job = newJob(undefined, undefined)
  const isOfPerson = rest.state === 'running' || (rest.state === 'proposed' && rest.part === 'proposer')
  if (isOfPerson) return { ...rest, ...endJob(job, 'failed', {}, earlier_failure) }
  return { ...rest, ...(isOver(rest) && owes === 0 ? endJob(job, 'completed', {}) : job) }
}

type EarlierExchange = Omit<StoredExchange, 'owes'> & { owes: 0 | 1; heard: number; attempts?: number }

const earlier_failure = {
  code: 'ended',
  reason:
    'an earlier version of the service began this exchange, without the rights of its principal: propose it again',
}

export const exchanges = collection({
  name: 'fusion_exchange',
  schema: z.preprocess(adoptEarlierExchange, storedExchange),
  indexes: ['state', 'owes', 'peer', 'part', 'agreed_ts', ...job_indexes],
})

/** A piece of a set of data: records of this site, a set that it sends, or a set that it receives. */
const storedPiece = z.strictObject({
  tenant_id: z.string(),
  exchange_id: exchangeId,
  from: siteName,
  /** Name of the set within the exchange and the site. */
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
      .meta({ description: 'The run of this party, once all sites have agreed; created shortly after' }),
    progress: runProgress.optional().meta({ description: 'Progress of the current computation' }),
    ...delayFields,
    warnings: z
      .array(z.string())
      .meta({ description: 'Disclosures of this agreement, and the assumptions behind its protection' }),
  })
  .meta({ id: 'FusionExchange' })
export type ExchangeView = z.infer<typeof exchangeView>

/** Builds the view of an exchange. `progress`: progress of the current computation. */
export function showExchange({ id, version, value }: Doc<StoredExchange>, progress?: RunProgress): ExchangeView {
  const { tenant_id, label: classification, created_by, created_at } = value
  const { agreement, part, state, sizes, agreed, failure, updated_at } = value
  const hasRun = part !== 'linker' && (state === 'running' || state === 'completed')
  return {
    uid: id,
    version,
    tenant_id,
    classification,
    created_by,
    created_at,
    agreement,
    part,
    state,
    sizes,
    agreed,
    ...(hasRun ? { run_id: runIdOfExchange(id) } : {}),
    ...(failure === undefined ? {} : { failure }),
    updated_at,
    ...(progress === undefined ? {} : { progress }),
    ...showDelay(adoptEarlierExchange(value) as StoredExchange),
    warnings: listWarnings(agreement),
  }
}

export function isOver({ state }: Pick<StoredExchange, 'state'>): boolean {
  return state !== 'proposed' && state !== 'running'
}

/** The name of this site in the exchange. */
export function ownSiteOf({ part, agreement: { parties, linker = '' } }: Pick<StoredExchange, 'part' | 'agreement'>) {
  return { proposer: parties[0], asked: parties[1], linker }[part]
}

/** Derives the id of the run of an exchange at a site, so that each exchange has exactly one run. */
export function runIdOfExchange(exchange_id: string): string {
  return exchange_id.replace('xchg_', 'run_')
}
