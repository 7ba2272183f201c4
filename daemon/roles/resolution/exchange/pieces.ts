// Sets of data in pieces: cut to what a message holds, kept under ids that a repeat finds, joined when all are there.
import type { Call } from '../../../kernel/call.ts'
import { isRefused } from '../../../kernel/errors.ts'
import { clkParameters, lengthOf } from '../privacy/clk/parameters.ts'
import { tagBytes } from '../privacy/psi/tags.ts'
import type { SentPiece } from './messages.ts'
import { exchangePieces, type Round, type StoredExchange, type StoredPiece } from './model.ts'
import { planOf } from './plan.ts'
import type { Row } from './rows.ts'

/** Bytes of a piece, before base64url makes them a third more; a body may have 4 MiB. */
export const piece_bytes = 1_572_864
/** What a site may find with a linker: pairs for each record of both sides. */
const most_pairs = 50

/** Two places and a score. */
export const pair_bytes = 16

/** Bytes of an item of a round; records have none. */
export function widthOf(
  round: Exclude<Round, 'records'>,
  { agreement, sizes }: Pick<StoredExchange, 'agreement' | 'sizes'>,
): number {
  if (round === 'points') return 32
  if (round === 'places') return 4
  if (round === 'pairs') return pair_bytes
  if (round === 'vectors') return lengthOf(agreement.clk ?? clkParameters.parse({})) / 8
  const [one, other] = agreement.parties
  return tagBytes(sizes[one] ?? 0, sizes[other] ?? 0)
}

type Known = Pick<StoredExchange, 'agreement' | 'sizes'>

/** Items that a round may have as it comes from this site: no fewer and no more where it is known. */
function boundsOf(round: Round, exchange: Known, from: string, self: string): readonly [least: number, most: number] {
  const of = (site: string) => exchange.sizes[site] ?? 0
  // A linker is told no size beforehand.
  if (exchange.sizes[from] === undefined && round === 'vectors') return [0, exchange.agreement.max_set_size]
  if (round === 'tags') return [of(self), of(self)]
  if (round === 'places') return [0, Math.min(of(self), of(from))]
  if (round === 'pairs') return [0, most_pairs * exchange.agreement.parties.reduce((sum, party) => sum + of(party), 0)]
  return [of(from), of(from)]
}

/** Why a peer may not send this piece; undefined when it may. Everything is judged before a byte of it is kept. */
export function objectionTo(piece: SentPiece, exchange: Known, from: string, self: string): string | undefined {
  const { round, number, of, items, data, rows } = piece
  const isExpected = planOf(exchange.agreement, self).some(
    (step) => step.do === 'await' && step.round === round && step.from === from,
  )
  if (!isExpected) return `no ${round} are expected of ${from}`
  const [least, most] = boundsOf(round, exchange, from, self)
  if (items < least || items > most)
    return `${items} ${round} where ${least === most ? '' : 'at most '}${most} were agreed`
  if (number >= of) return `piece ${number} of ${of}`
  if (round === 'records') return recordsObjection(piece, exchange)
  if (rows !== undefined || data === undefined) return 'such a round has data and no rows'
  const width = widthOf(round, exchange)
  const each = Math.floor(piece_bytes / width)
  if (of !== Math.max(1, Math.ceil(items / each))) return `${of} pieces of ${items} items`
  const expected = Math.min(each, items - number * each) * width
  const bytes = Buffer.from(data, 'base64url')
  if (bytes.length !== expected) return `${bytes.length} bytes where ${expected} belong`
  return bytes.toString('base64url') === data ? undefined : 'the data is not base64url as it is written'
}

function recordsObjection({ rows, data, of, items }: SentPiece, { agreement }: Known): string | undefined {
  if (data !== undefined || rows === undefined) return 'records have rows and no data'
  const isEven = rows.every((row) => row.length === agreement.fields.length + 1 && row[0] !== '')
  if (!isEven) return 'a row is not an id and the agreed fields'
  return of <= Math.max(1, items) && rows.length <= items ? undefined : 'more pieces or rows than records'
}

export function pieceId(exchange_id: string, from: string, what: string, number: number): string {
  return `${exchange_id}.${from}.${what}.${number}`
}

/** Bytes in pieces of whole items; one empty piece for no items, so that an empty set arrives as well. */
export function cutBytes(bytes: Uint8Array, width: number): string[] {
  const each = Math.floor(piece_bytes / width) * width
  const count = Math.max(1, Math.ceil(bytes.length / each))
  return Array.from({ length: count }, (_, at) =>
    Buffer.from(bytes.subarray(at * each, (at + 1) * each)).toString('base64url'),
  )
}

/** Rows in pieces of about as many bytes. */
export function cutRows(rows: readonly Row[]): string[] {
  const pieces: string[] = []
  let piece: Row[] = []
  let bytes = 0
  for (const row of rows) {
    const more = Buffer.byteLength(JSON.stringify(row))
    if (bytes + more > piece_bytes && piece.length > 0) {
      pieces.push(JSON.stringify(piece))
      piece = []
      bytes = 0
    }
    piece.push(row)
    bytes += more
  }
  return [...pieces, JSON.stringify(piece)]
}

type Whose = Pick<StoredPiece, 'tenant_id' | 'exchange_id' | 'from' | 'what'>

/** Keeps a set; what is kept of it already stays. Durable when it resolves. */
export async function keepPieces(call: Call, whose: Whose, items: number, pieces: readonly string[]): Promise<void> {
  for (const [number, data] of pieces.entries()) {
    const id = pieceId(whose.exchange_id, whose.from, whose.what, number)
    await call.store(exchangePieces).create(id, { ...whose, number, of: pieces.length, items, data })
  }
}

/** All pieces of a set in order; undefined while one is missing. */
export async function piecesOf(
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

export async function bytesOf(
  call: Call,
  exchange_id: string,
  from: string,
  what: string,
): Promise<Uint8Array | undefined> {
  const pieces = await piecesOf(call, exchange_id, from, what)
  return pieces && new Uint8Array(Buffer.concat(pieces.map(({ data }) => Buffer.from(data, 'base64url'))))
}

export async function rowsIn(
  call: Call,
  exchange_id: string,
  from: string,
  what: string,
): Promise<readonly Row[] | undefined> {
  const pieces = await piecesOf(call, exchange_id, from, what)
  return pieces?.flatMap(({ data }) => JSON.parse(data) as Row[])
}

/** Removes all that is kept of an exchange but itself; two may do so side by side. */
export async function dropPieces(call: Call, exchange_id: string): Promise<void> {
  const store = call.store(exchangePieces)
  for (;;) {
    const page = await store.list({ filter: { exchange_id }, limit: 100, fresh: true })
    for (const { id } of page.docs) await store.remove(id).catch(unlessGone)
    if (page.next_cursor === undefined) return
  }
}

function unlessGone(error: unknown): void {
  if (!isRefused(error) || error.code !== 'not_found') throw error
}
