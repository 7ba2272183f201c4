// Prepares what a site sends in a round from what it has; kept before it is sent, so that a restart sends the same.
import { agreedKey } from '../../../kernel/agreed-key.ts'
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
import type { Lens } from '../lens/model.ts'
import { type ClkParameters, clkParameters, lengthOf } from '../privacy/clk/parameters.ts'
import { blindingPart } from '../privacy/part.ts'
import { otherParty } from './agreement.ts'
import { cutBytes } from './cutting.ts'
import { type Deed, type Deeds, exchangeWork, type Met, type Seen, type Sorted } from './deeds.ts'
import type { Round, StoredExchange } from './model.ts'
import { bytesOf, keepPieces, piecesOf, textsOf, widthOf } from './pieces.ts'

/** `signal`: aborted when the exchange is wanted no more. */
export type Material = {
  readonly call: Call
  readonly doc: Doc<StoredExchange>
  readonly lens: Lens
  readonly signal: AbortSignal
}

/** Undefined once the round is kept; a refusal where what the other side sent allows none. */
export async function prepare(given: Material, round: Round): Promise<Refused | undefined> {
  const { call, doc } = given
  if (await piecesOf(call, doc.id, call.site.name, round)) return undefined
  return await makers[round](given)
}

const makers: Readonly<Record<Round, (given: Material) => Promise<Refused | undefined>>> = {
  async records(given) {
    const { call, doc } = given
    const own = await piecesOf(call, doc.id, call.site.name, doc.value.own ?? '')
    if (!own) throw new Error(`the records of ${doc.id} are not all here`)
    const texts = own.map(({ data }) => data)
    await keep(given, 'records', own[0]?.items ?? 0, texts)
    return undefined
  },
  async points(given) {
    const { call, doc, signal } = given
    const keys = await perform(given, 'keys', await seen(given))
    if (isRefused(keys)) return keys
    const blinding = call.part(blindingPart)
    const items = await blinding.blindValues(doc.value.agreement_digest, keys, secretOf(given), signal)
    const sorted = await perform(given, 'sort', { items, width: widthOf('points', doc.value) })
    return isRefused(sorted) ? sorted : await keepSorted(given, 'points', sorted)
  },
  async tags(given) {
    const tags = await tagsOfTheirs(given)
    if (isRefused(tags)) return tags
    await keepBytes(given, 'tags', tags)
    return undefined
  },
  async places(given) {
    const met = await metOf(given)
    if (isRefused(met)) return met
    await keepBytes(given, 'met', bytesIn(met.ours))
    await keepBytes(given, 'places', bytesIn(met.theirs))
    return undefined
  },
  vectors: prepareVectors,
  pairs: linkVectors,
}

/** Does it beside the service, for this exchange. */
export function perform<D extends Deed>(
  { call, doc, signal }: Material,
  deed: D,
  given: Deeds[D][0],
): Promise<Deeds[D][1] | Refused> {
  return call.part(exchangeWork).perform(doc.id, deed, given, signal)
}

/** Places of ours and of theirs that hold the same value, ascending by theirs. */
async function metOf(given: Material): Promise<Met | Refused> {
  const { call, doc } = given
  const theirs = await tagsOfTheirs(given)
  if (isRefused(theirs)) return theirs
  const ours = await bytesOf(call, doc.id, otherParty(doc.value.agreement, call.site.name), 'tags')
  if (!ours) throw new Error('the tags are not all here')
  const met = await perform(given, 'meet', { ours: theirs, theirs: ours, width: widthOf('tags', doc.value) })
  return isRefused(met) ? met : { ours: met.theirs, theirs: met.ours }
}

/** Tags of the other side's points; a refusal for points that are none, not all different, or our own given back. */
async function tagsOfTheirs(given: Material): Promise<Uint8Array | Refused> {
  const { call, doc, signal } = given
  const { agreement, agreement_digest, sizes } = doc.value
  const other = otherParty(agreement, call.site.name)
  const points = await bytesOf(call, doc.id, other, 'points')
  const own = await bytesOf(call, doc.id, call.site.name, 'points')
  if (!points || !own) throw new Error('the points are not all here')
  const sound = await perform(given, 'check', { points, own, count: sizes[other] ?? 0, from: other })
  if (isRefused(sound)) return sound
  const width = widthOf('tags', doc.value)
  const tags = await call.part(blindingPart).tagPoints(agreement_digest, points, secretOf(given), width, signal)
  return tags ?? refuse('invalid', `among the points of ${other} is one of low order, or one that is none`)
}

async function prepareVectors(given: Material): Promise<Refused | undefined> {
  const { call, doc } = given
  const { agreement, agreement_digest, keys } = doc.value
  const theirs = keys[otherParty(agreement, call.site.name)]
  const key = theirs === undefined ? undefined : agreedKey(secretOf(given), theirs, agreement_digest)
  if (!key) return refuse('invalid', 'the other party gave no public key that a key can be agreed with')
  const made = await perform(given, 'vectors', { ...(await seen(given)), key, parameters: parametersOf(given) })
  return isRefused(made) ? made : await keepSorted(given, 'vectors', made)
}

async function linkVectors(given: Material): Promise<Refused | undefined> {
  const { call, doc } = given
  const { agreement } = doc.value
  if (agreement.parties.includes(call.site.name)) {
    const refused = await prepare(given, 'vectors')
    if (refused) return refused
  }
  const [ours, theirs] = await Promise.all(agreement.parties.map((party) => bytesOf(call, doc.id, party, 'vectors')))
  if (!ours || !theirs) throw new Error('the vectors are not all here')
  const { threshold, one_to_one, ...rest } = parametersOf(given)
  const length = lengthOf({ threshold, one_to_one, ...rest })
  const linked = await perform(given, 'link', {
    ours,
    theirs,
    linking: { length, threshold, one_to_one, seed: agreement.seed },
  })
  if (isRefused(linked)) return linked
  if (linked.blocks_left_out > 0) {
    call.log.warn('resolution.exchange.blocks-left-out', { exchange: doc.id, blocks: linked.blocks_left_out })
  }
  await keepBytes(given, 'pairs', linked.pairs)
  return undefined
}

export function parametersOf({ doc }: Pick<Material, 'doc'>): ClkParameters {
  return doc.value.agreement.clk ?? clkParameters.parse({})
}

/** The records of this site as they are kept. */
export async function seen(given: Material): Promise<Seen> {
  return { lens: given.lens, fields: given.doc.value.agreement.fields, pieces: await ownTexts(given) }
}

async function ownTexts({ call, doc }: Material): Promise<readonly string[]> {
  const texts = await textsOf(call, doc.id, call.site.name, doc.value.own ?? '')
  if (!texts) throw new Error(`the records of ${doc.id} are not all here`)
  return texts
}

/** The order in which a set of items went out: of each place, which of our own it is. */
export async function orderOf({ call, doc }: Pick<Material, 'call' | 'doc'>): Promise<Int32Array> {
  const bytes = await bytesOf(call, doc.id, call.site.name, 'order')
  if (!bytes) throw new Error(`the order of ${doc.id} is not here`)
  return new Int32Array(bytes.buffer)
}

/** With the order kept first: a set that is there has its order. */
async function keepSorted(given: Material, round: 'points' | 'vectors', { sorted, order }: Sorted): Promise<undefined> {
  await keepBytes(given, 'order', bytesIn(order))
  await keepBytes(given, round, sorted)
  return undefined
}

async function keepBytes(
  given: Material,
  what: Exclude<Round, 'records'> | 'order' | 'met',
  bytes: Uint8Array,
): Promise<void> {
  const width = what === 'order' || what === 'met' ? 4 : widthOf(what, given.doc.value)
  await keep(given, what, bytes.length / width, cutBytes(bytes, width))
}

async function keep({ call, doc }: Material, what: string, items: number, pieces: readonly string[]): Promise<void> {
  const { tenant_id } = doc.value
  await keepPieces(call, { tenant_id, exchange_id: doc.id, from: call.site.name, what }, items, pieces)
}

function secretOf({ doc }: Material): Uint8Array {
  if (doc.value.secret === undefined) throw new Error(`${doc.id} has no secret`)
  return new Uint8Array(Buffer.from(doc.value.secret, 'hex'))
}

function bytesIn(numbers: Int32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)
}
