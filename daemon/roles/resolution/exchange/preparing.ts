// Prepares what a site sends in a round from what it has; kept before it is sent, so that a restart sends the same.

import { agreedKey } from '../../../kernel/agreed-key.ts'
import type { Call } from '../../../kernel/call.ts'
import { type Refused, refuse } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
import type { Lens } from '../lens/model.ts'
import { encode } from '../privacy/clk/encode.ts'
import { link } from '../privacy/clk/link.ts'
import { type ClkParameters, clkParameters, lengthOf } from '../privacy/clk/parameters.ts'
import { blindingPart } from '../privacy/part.ts'
import { ascending, objectionTo, sharesOne } from '../privacy/psi/points.ts'
import { meeting } from '../privacy/psi/tags.ts'
import { recordKeys } from '../privacy/record-keys.ts'
import { otherParty } from './agreement.ts'
import type { Round, StoredExchange } from './model.ts'
import { bytesOf, cutBytes, cutRows, keepPieces, pair_bytes, piecesOf, rowsIn, widthOf } from './pieces.ts'
import { seenRows } from './rows.ts'

export type Material = { readonly call: Call; readonly doc: Doc<StoredExchange>; readonly lens: Lens }

/** Undefined once the round is kept; a refusal where what the other side sent allows none. */
export async function prepare(given: Material, round: Round): Promise<Refused | undefined> {
  const { call, doc } = given
  if (await piecesOf(call, doc.id, call.site.name, round)) return undefined
  return await makers[round](given)
}

const makers: Readonly<Record<Round, (given: Material) => Promise<Refused | undefined>>> = {
  records: async (given) => {
    const rows = await ownRows(given)
    await keep(given, 'records', rows.length, cutRows(rows))
    return undefined
  },
  async points(given) {
    const { agreement, agreement_digest } = given.doc.value
    const { keys } = recordKeys(seenRows(given.lens, agreement.fields, await ownRows(given)), agreement.fields)
    const points = await given.call
      .part(blindingPart)
      .blindValues(agreement_digest, keys, secretOf(given), given.call.signal)
    return await keepSorted(given, 'points', points)
  },
  async tags(given) {
    const tags = await tagsOfTheirs(given)
    if (!(tags instanceof Uint8Array)) return tags
    await keepBytes(given, 'tags', tags)
    return undefined
  },
  async places(given) {
    const met = await metOf(given)
    if (!('theirs' in met)) return met
    await keepBytes(given, 'met', bytesIn(met.ours))
    await keepBytes(given, 'places', bytesIn(met.theirs))
    return undefined
  },
  async vectors(given) {
    const made = await vectorsOf(given)
    return made instanceof Uint8Array ? await keepSorted(given, 'vectors', made) : made
  },
  pairs: linkVectors,
}

/** Places of ours and of theirs that hold the same value, ascending by theirs. */
export async function metOf(
  given: Material,
): Promise<{ readonly ours: Int32Array; readonly theirs: Int32Array } | Refused> {
  const { call, doc } = given
  const theirs = await tagsOfTheirs(given)
  if (!(theirs instanceof Uint8Array)) return theirs
  const ours = await bytesOf(call, doc.id, otherParty(doc.value.agreement, call.site.name), 'tags')
  if (!ours) throw new Error('the tags are not all here')
  const met = meeting(theirs, ours, widthOf('tags', doc.value))
  return { ours: met.theirs, theirs: met.ours }
}

/** Tags of the other side's points; a refusal for points that are none, not all different, or our own given back. */
async function tagsOfTheirs(given: Material): Promise<Uint8Array | Refused> {
  const { call, doc } = given
  const { agreement, agreement_digest, sizes } = doc.value
  const other = otherParty(agreement, call.site.name)
  const points = await bytesOf(call, doc.id, other, 'points')
  const own = await bytesOf(call, doc.id, call.site.name, 'points')
  if (!points || !own) throw new Error('the points are not all here')
  const objection = objectionTo(points, sizes[other] ?? 0)
  if (objection) return refuse('invalid', `the points of ${other}: ${objection}`)
  if (sharesOne(points, own)) return refuse('invalid', `${other} gave back points of this site`)
  const width = widthOf('tags', doc.value)
  const tags = await call.part(blindingPart).tagPoints(agreement_digest, points, secretOf(given), width, call.signal)
  return tags ?? refuse('invalid', `among the points of ${other} is one of low order, or one that is none`)
}

async function vectorsOf(given: Material): Promise<Uint8Array | Refused> {
  const { call, doc, lens } = given
  const { agreement, agreement_digest, keys } = doc.value
  const theirs = keys[otherParty(agreement, call.site.name)]
  const key = theirs === undefined ? undefined : agreedKey(secretOf(given), theirs, agreement_digest)
  if (!key) return refuse('invalid', 'the other party gave no public key that a key can be agreed with')
  const vectors = encode(
    seenRows(lens, agreement.fields, await ownRows(given)),
    agreement.fields,
    key,
    parametersOf(given),
  )
  return new Uint8Array(vectors.buffer)
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
  const linked = link(words(ours), words(theirs), { length, threshold, one_to_one, seed: agreement.seed })
  if (!linked) return refuse('too_large', 'more pairs are above the threshold than fifty for each record')
  if (linked.blocks_left_out > 0) {
    call.log.warn('resolution.exchange.blocks-left-out', { exchange: doc.id, blocks: linked.blocks_left_out })
  }
  const bytes = Buffer.alloc(linked.pairs.length * pair_bytes)
  for (const [at, [one, other, score]] of linked.pairs.entries()) {
    bytes.writeUInt32LE(one, at * pair_bytes)
    bytes.writeUInt32LE(other, at * pair_bytes + 4)
    bytes.writeDoubleLE(score, at * pair_bytes + 8)
  }
  await keepBytes(given, 'pairs', new Uint8Array(bytes))
  return undefined
}

export function parametersOf({ doc }: Pick<Material, 'doc'>): ClkParameters {
  return doc.value.agreement.clk ?? clkParameters.parse({})
}

export async function ownRows({ call, doc }: Pick<Material, 'call' | 'doc'>) {
  const rows = await rowsIn(call, doc.id, call.site.name, doc.value.own ?? '')
  if (!rows) throw new Error(`the records of ${doc.id} are not all here`)
  return rows
}

/** The order in which a set of items went out: of each place, which of our own it is. */
export async function orderOf({ call, doc }: Pick<Material, 'call' | 'doc'>): Promise<Int32Array> {
  const bytes = await bytesOf(call, doc.id, call.site.name, 'order')
  if (!bytes) throw new Error(`the order of ${doc.id} is not here`)
  return new Int32Array(bytes.buffer)
}

/** Sorted, with the order kept first: a set that is there has its order. */
async function keepSorted(given: Material, round: 'points' | 'vectors', items: Uint8Array): Promise<undefined> {
  const { sorted, order } = ascending(items, widthOf(round, given.doc.value))
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

function words(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
}
