// Sets of data in pieces: cut to what a message holds, kept under ids that a repeat finds, joined when all are there.

import { isRefusal } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { clkParameters, computeVectorLength } from '../../privacy/clk/parameters.ts'
import { computeTagBytes } from '../../privacy/psi/tags.ts'
import { buildPlan } from '../agreement/build-plan.ts'
import type { PieceMessage } from '../message/exchange-message.ts'
import { type ExchangeRound, exchangePieces, type StoredExchange, type StoredPiece } from '../model.ts'
import { max_piece_bytes, pair_bytes } from './cut-pieces.ts'

/** What a site may find with a linker: pairs for each record of both sides. */
const max_pairs_per_record = 50

/** Pieces are large, and a list holds all of each. */
const drop_batch_size = 16

/** Bytes of an item of a round; records have none. */
export function computeItemBytes(
  round: Exclude<ExchangeRound, 'records'>,
  { agreement, sizes }: Pick<StoredExchange, 'agreement' | 'sizes'>,
): number {
  if (round === 'points') return 32
  if (round === 'places') return 4
  if (round === 'pairs') return pair_bytes
  if (round === 'vectors') return computeVectorLength(agreement.clk ?? clkParameters.parse({})) / 8
  const [one, other] = agreement.parties
  return computeTagBytes(sizes[one] ?? 0, sizes[other] ?? 0)
}

/** A sender fills pieces: of two that follow each other more than one is full. */
function computeMaxPieces(max_set_bytes: number): number {
  return 2 * Math.ceil(max_set_bytes / max_piece_bytes) + 1
}

type ExchangeSizes = Pick<StoredExchange, 'agreement' | 'sizes'>

/** Items that a round may have as it comes from this site: no fewer and no more where it is known. */
function computeItemBounds(
  round: ExchangeRound,
  exchange: ExchangeSizes,
  { from, self, max_matches }: { from: string; self: string; max_matches: number },
): readonly [least: number, most: number] {
  const of = (site: string) => exchange.sizes[site] ?? 0
  // A linker is told no size beforehand.
  if (exchange.sizes[from] === undefined && round === 'vectors') return [1, exchange.agreement.max_set_size]
  if (round === 'tags') return [of(self), of(self)]
  if (round === 'places') return [0, Math.min(of(self), of(from))]
  if (round === 'pairs') return [0, Math.min(max_matches, computeMaxPairs(exchange))]
  return [of(from), of(from)]
}

function computeMaxPairs({ agreement: { parties, clk }, sizes }: ExchangeSizes): number {
  const all = parties.map((party) => sizes[party] ?? 0)
  const isOneToOne = clk?.one_to_one ?? true
  return isOneToOne ? Math.min(...all) : max_pairs_per_record * all.reduce((sum, size) => sum + size, 0)
}

/**
 * Why a peer may not send this piece; undefined when it may. Everything is judged before a byte of it is kept.
 * `max_matches`: of a run of this site, which could not write more.
 */
export function findPieceFault(
  piece: PieceMessage,
  exchange: ExchangeSizes,
  from: string,
  self: string,
  max_matches: number,
): string | undefined {
  const { round, number, of, items, data, rows } = piece
  const isExpected = buildPlan(exchange.agreement, self).some(
    (step) => step.do === 'await' && step.round === round && step.from === from,
  )
  if (!isExpected) return `no ${round} are expected of ${from}`
  const [least, most] = computeItemBounds(round, exchange, { from, self, max_matches })
  if (items < least || items > most)
    return `${items} ${round} where ${least === most ? '' : 'at most '}${most} were agreed`
  if (number >= of) return `piece ${number} of ${of}`
  if (round === 'records') return findRecordsFault(piece, exchange)
  if (rows !== undefined || data === undefined) return 'such a round has data and no rows'
  const width = computeItemBytes(round, exchange)
  const each = Math.floor(max_piece_bytes / width)
  if (of !== Math.max(1, Math.ceil(items / each))) return `${of} pieces of ${items} items`
  const expected = Math.min(each, items - number * each) * width
  const bytes = Buffer.from(data, 'base64url')
  if (bytes.length !== expected) return `${bytes.length} bytes where ${expected} belong`
  return bytes.toString('base64url') === data ? undefined : 'the data is not base64url as it is written'
}

function findRecordsFault({ rows, data, of, items }: PieceMessage, { agreement }: ExchangeSizes): string | undefined {
  if (data !== undefined || rows === undefined) return 'records have rows and no data'
  const isEven = rows.every((row) => row.length === agreement.fields.length + 1 && row[0] !== '')
  if (!isEven) return 'a row is not an id and the agreed fields'
  const most = Math.min(Math.max(1, items), computeMaxPieces(agreement.max_set_bytes))
  return of <= most && rows.length <= items ? undefined : 'more pieces or rows than were agreed'
}

export function pieceId(exchange_id: string, from: string, what: string, number: number): string {
  return `${exchange_id}.${from}.${what}.${number}`
}

type PieceSetKey = Pick<StoredPiece, 'tenant_id' | 'exchange_id' | 'from' | 'what'>

/** Keeps a set; what is kept of it already stays. Durable when it resolves. */
export async function storePieces(
  call: Call,
  set: PieceSetKey,
  items: number,
  pieces: readonly string[],
): Promise<void> {
  for (const [number, data] of pieces.entries()) {
    const id = pieceId(set.exchange_id, set.from, set.what, number)
    await call.store(exchangePieces).create(id, { ...set, number, of: pieces.length, items, data })
  }
}

/** All pieces of a set in order; undefined while one is missing. */
export async function loadPieces(
  call: Call,
  exchange_id: string,
  from: string,
  what: string,
): Promise<readonly StoredPiece[] | undefined> {
  const store = call.store(exchangePieces)
  const first = await store.find(pieceId(exchange_id, from, what, 0))
  if (!first) return undefined
  const found = [first.value]
  for (let number = 1; number < first.value.of; number++) {
    const next = await store.find(pieceId(exchange_id, from, what, number))
    if (!next) return undefined
    found.push(next.value)
  }
  return found
}

export async function loadBytes(
  call: Call,
  exchange_id: string,
  from: string,
  what: string,
): Promise<Uint8Array | undefined> {
  const pieces = await loadPieces(call, exchange_id, from, what)
  return pieces && new Uint8Array(Buffer.concat(pieces.map(({ data }) => Buffer.from(data, 'base64url'))))
}

/** Rows of records as they are kept: each piece is a JSON array. */
export async function loadTexts(
  call: Call,
  exchange_id: string,
  from: string,
  what: string,
): Promise<readonly string[] | undefined> {
  return (await loadPieces(call, exchange_id, from, what))?.map(({ data }) => data)
}

/** Removes all that is kept of an exchange but itself; two may do so side by side. */
export async function dropPieces(call: Call, exchange_id: string): Promise<void> {
  const store = call.store(exchangePieces)
  for (;;) {
    const page = await store.list({ filter: { exchange_id }, limit: drop_batch_size, fresh: true })
    for (const { id } of page.docs) await store.remove(id).catch(ignoreNotFound)
    if (page.next_cursor === undefined) return
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isRefusal(error) || error.code !== 'not_found') throw error
}
