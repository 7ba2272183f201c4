// Prepares the set that a site sends in a round. The set is stored first, so that a restart sends the same set.
import { deriveAgreedKey } from '../../../../kernel/cryptography/key-agreement.ts'
import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { JobCall } from '../../../../kernel/job/job.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import type { Lens } from '../../lens/model.ts'
import { blindingPart } from '../../privacy/blinding-part.ts'
import { type ClkParameters, clkParameters, computeVectorLength } from '../../privacy/clk/parameters.ts'
import { findOtherParty } from '../agreement/agreement.ts'
import { openExchangeSecret } from '../exchange-secret.ts'
import {
  type ExchangeJobName,
  type ExchangeJobs,
  exchangeWork,
  type LensRecordPieces,
  type SortedItems,
} from '../job/exchange-jobs.ts'
import type { ExchangeRound, StoredExchange } from '../model.ts'
import { cutBytes } from '../piece/cut-pieces.ts'
import { computeItemBytes } from '../piece/find-piece-fault.ts'
import { loadBytes, loadPieces, loadTexts, storePieces } from '../piece/piece-sets.ts'

/** Context of a step. `signal` is aborted when the exchange or its run has ended. */
export type ExchangeStepContext = {
  readonly call: JobCall
  readonly doc: Doc<StoredExchange>
  readonly lens: Lens
  readonly signal: AbortSignal
}

/** Returns undefined once the round is stored. Refuses invalid data of the other site. */
export async function prepareRound(context: ExchangeStepContext, round: ExchangeRound): Promise<Refusal | undefined> {
  const { call, doc } = context
  if (await loadPieces(call, doc.id, call.site.name, round)) return undefined
  return await roundBuilders[round](context)
}

const roundBuilders: Readonly<Record<ExchangeRound, (context: ExchangeStepContext) => Promise<Refusal | undefined>>> = {
  async records(context) {
    const { call, doc } = context
    const own = await loadPieces(call, doc.id, call.site.name, doc.value.own ?? '')
    if (!own) throw new Error(`pieces of the records of ${doc.id} are missing`)
    const texts = own.map(({ data }) => data)
    await storeSet(context, 'records', own[0]?.items ?? 0, texts)
    return undefined
  },
  async points(context) {
    const { call, doc, signal } = context
    const keys = await performJob(context, 'keys', await loadRecordPieces(context))
    if (isRefusal(keys)) return keys
    const secret = await openExchangeSecret(call, doc)
    const blinding = call.part(blindingPart)
    const items = await blinding.blindValues(doc.value.agreement_digest, keys, secret, signal)
    const sorted = await performJob(context, 'sort', { items, width: computeItemBytes('points', doc.value) })
    return isRefusal(sorted) ? sorted : await storeSorted(context, 'points', sorted)
  },
  async tags(context) {
    const tags = await tagPeerPoints(context)
    if (isRefusal(tags)) return tags
    await storeBytes(context, 'tags', tags)
    return undefined
  },
  async places(context) {
    const shared = await findSharedPositions(context)
    if (isRefusal(shared)) return shared
    await storeBytes(context, 'met', toBytes(shared.own))
    await storeBytes(context, 'places', toBytes(shared.peer))
    return undefined
  },
  vectors: prepareVectors,
  pairs: preparePairs,
}

/** Runs a job for this exchange outside the service's thread. */
export function performJob<D extends ExchangeJobName>(
  { call, doc, signal }: ExchangeStepContext,
  job: D,
  input: ExchangeJobs[D][0],
): Promise<ExchangeJobs[D][1] | Refusal> {
  return call.part(exchangeWork).perform(doc.id, job, input, signal)
}

/** Finds the positions of equal keys in both sets, ascending in the set of the peer. */
async function findSharedPositions(
  context: ExchangeStepContext,
): Promise<{ own: Int32Array; peer: Int32Array } | Refusal> {
  const { call, doc } = context
  const peerTags = await tagPeerPoints(context)
  if (isRefusal(peerTags)) return peerTags
  const ownTags = await loadBytes(call, doc.id, findOtherParty(doc.value.agreement, call.site.name), 'tags')
  if (!ownTags) throw new Error(`pieces of the tags of ${doc.id} are missing`)
  const shared = await performJob(context, 'intersect', {
    left: peerTags,
    right: ownTags,
    width: computeItemBytes('tags', doc.value),
  })
  return isRefusal(shared) ? shared : { own: shared.right, peer: shared.left }
}

/** Computes tags of the peer's points. Refuses invalid and repeated points, and points of this site. */
async function tagPeerPoints(context: ExchangeStepContext): Promise<Uint8Array | Refusal> {
  const { call, doc, signal } = context
  const { agreement, agreement_digest, sizes } = doc.value
  const other = findOtherParty(agreement, call.site.name)
  const points = await loadBytes(call, doc.id, other, 'points')
  const own = await loadBytes(call, doc.id, call.site.name, 'points')
  if (!points || !own) throw new Error(`pieces of the points of ${doc.id} are missing`)
  const checked = await performJob(context, 'check', { points, own, count: sizes[other] ?? 0, from: other })
  if (isRefusal(checked)) return checked
  const width = computeItemBytes('tags', doc.value)
  const secret = await openExchangeSecret(call, doc)
  const tags = await call.part(blindingPart).tagPoints(agreement_digest, points, secret, width, signal)
  return tags ?? refuse('invalid', `the points of ${other} are not valid: one has low order or is not a point`)
}

async function prepareVectors(context: ExchangeStepContext): Promise<Refusal | undefined> {
  const { call, doc } = context
  const { agreement, agreement_digest, keys } = doc.value
  const other = findOtherParty(agreement, call.site.name)
  const peerKey = keys[other]
  const secret = await openExchangeSecret(call, doc)
  const key = peerKey === undefined ? undefined : deriveAgreedKey(secret, peerKey, agreement_digest)
  if (!key) return refuse('invalid', `${other} sent no valid public key`)
  const encoded = await performJob(context, 'vectors', {
    ...(await loadRecordPieces(context)),
    key,
    parameters: getClkParameters(context),
  })
  return isRefusal(encoded) ? encoded : await storeSorted(context, 'vectors', encoded)
}

async function preparePairs(context: ExchangeStepContext): Promise<Refusal | undefined> {
  const { call, doc } = context
  const { agreement } = doc.value
  if (agreement.parties.includes(call.site.name)) {
    const refused = await prepareRound(context, 'vectors')
    if (refused) return refused
  }
  const [left, right] = await Promise.all(agreement.parties.map((party) => loadBytes(call, doc.id, party, 'vectors')))
  if (!left || !right) throw new Error(`pieces of the vectors of ${doc.id} are missing`)
  const { threshold, one_to_one, ...rest } = getClkParameters(context)
  const length = computeVectorLength({ threshold, one_to_one, ...rest })
  const linked = await performJob(context, 'link', {
    left,
    right,
    linking: { length, threshold, one_to_one, seed: agreement.seed },
  })
  if (isRefusal(linked)) return linked
  if (linked.blocks_left_out > 0) {
    call.log.warn('resolution.exchange.blocks_omitted', { exchange: doc.id, blocks: linked.blocks_left_out })
  }
  await storeBytes(context, 'pairs', linked.pairs)
  return undefined
}

export function getClkParameters({ doc }: Pick<ExchangeStepContext, 'doc'>): ClkParameters {
  return doc.value.agreement.clk ?? clkParameters.parse({})
}

export async function loadRecordPieces(context: ExchangeStepContext): Promise<LensRecordPieces> {
  return { lens: context.lens, fields: context.doc.value.agreement.fields, pieces: await loadOwnTexts(context) }
}

async function loadOwnTexts({ call, doc }: ExchangeStepContext): Promise<readonly string[]> {
  const texts = await loadTexts(call, doc.id, call.site.name, doc.value.own ?? '')
  if (!texts) throw new Error(`pieces of the records of ${doc.id} are missing`)
  return texts
}

/** Loads the order of a sent set: for each position, the index of the item at this site. */
export async function loadItemOrder({ call, doc }: Pick<ExchangeStepContext, 'call' | 'doc'>): Promise<Int32Array> {
  const bytes = await loadBytes(call, doc.id, call.site.name, 'order')
  if (!bytes) throw new Error(`the item order of ${doc.id} is missing`)
  return new Int32Array(bytes.buffer)
}

/** Stores the order before the set, so that a stored set always has its order. */
async function storeSorted(
  context: ExchangeStepContext,
  round: 'points' | 'vectors',
  { sorted, order }: SortedItems,
): Promise<undefined> {
  await storeBytes(context, 'order', toBytes(order))
  await storeBytes(context, round, sorted)
  return undefined
}

async function storeBytes(
  context: ExchangeStepContext,
  name: Exclude<ExchangeRound, 'records'> | 'order' | 'met',
  bytes: Uint8Array,
): Promise<void> {
  const width = name === 'order' || name === 'met' ? 4 : computeItemBytes(name, context.doc.value)
  await storeSet(context, name, bytes.length / width, cutBytes(bytes, width))
}

async function storeSet(
  { call, doc }: ExchangeStepContext,
  name: string,
  items: number,
  pieces: readonly string[],
): Promise<void> {
  const { tenant_id } = doc.value
  await storePieces(call, { tenant_id, exchange_id: doc.id, from: call.site.name, what: name }, items, pieces)
}

function toBytes(numbers: Int32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)
}
