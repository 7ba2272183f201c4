// Judges a piece that a peer sends by the agreement and the sizes of the sets, before a byte of it is stored.
import { clkParameters, computeVectorLength } from '../../privacy/clk/parameters.ts'
import { computeTagBytes } from '../../privacy/psi/tags.ts'
import { buildPlan } from '../agreement/build-plan.ts'
import type { PieceMessage } from '../message/exchange-message.ts'
import type { ExchangeRound, StoredExchange } from '../model.ts'
import { max_piece_bytes, pair_bytes } from './cut-pieces.ts'

/** What a site may find with a linker: pairs for each record of both sides. */
const max_pairs_per_record = 50

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
