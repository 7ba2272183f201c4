// Checks a piece that a peer sends against the agreement and the sizes of the sets, before any of it is stored.
import { clkParameters, computeVectorLength } from '../../privacy/clk/parameters.ts'
import { computeTagBytes } from '../../privacy/psi/tags.ts'
import { buildPlan } from '../agreement/build-plan.ts'
import type { PieceMessage } from '../message/exchange-message.ts'
import type { ExchangeRound, StoredExchange } from '../model.ts'
import { countRowValues, max_piece_bytes, max_piece_values, pair_bytes } from './cut-pieces.ts'

/** Pairs that a linker may find for each record of both sides. */
const max_pairs_per_record = 50

/** Computes the bytes of an item of a round; records have no fixed size. */
export function computeItemBytes(
  round: Exclude<ExchangeRound, 'records'>,
  { agreement, sizes }: Pick<StoredExchange, 'agreement' | 'sizes'>,
): number {
  if (round === 'points') return 32
  if (round === 'places') return 4
  if (round === 'pairs') return pair_bytes
  if (round === 'vectors') return computeVectorLength(agreement.clk ?? clkParameters.parse({})) / 8
  const [proposer, other] = agreement.parties
  return computeTagBytes(sizes[proposer] ?? 0, sizes[other] ?? 0)
}

/** Computes the most pieces of a set. A sender fills pieces, so two consecutive ones exceed one full piece, in bytes or values. */
function computeMaxPieces(items: number, { fields, max_set_bytes }: ExchangeSizes['agreement']): number {
  const values = items * countRowValues(fields.length + 1)
  return 2 * (Math.ceil(max_set_bytes / max_piece_bytes) + Math.ceil(values / max_piece_values)) + 1
}

type ExchangeSizes = Pick<StoredExchange, 'agreement' | 'sizes'>

/** Computes the number of items that a round from a site may have; both bounds are equal where the number is known. */
function computeItemBounds(
  round: ExchangeRound,
  exchange: ExchangeSizes,
  { from, self, max_matches }: { from: string; self: string; max_matches: number },
): readonly [min: number, max: number] {
  const sizeOf = (site: string) => exchange.sizes[site] ?? 0
  // A linker does not know the sizes of the parties beforehand.
  if (exchange.sizes[from] === undefined && round === 'vectors') return [1, exchange.agreement.max_set_size]
  if (round === 'tags') return [sizeOf(self), sizeOf(self)]
  if (round === 'places') return [0, Math.min(sizeOf(self), sizeOf(from))]
  if (round === 'pairs') return [0, Math.min(max_matches, computeMaxPairs(exchange))]
  return [sizeOf(from), sizeOf(from)]
}

function computeMaxPairs({ agreement: { parties, clk }, sizes }: ExchangeSizes): number {
  const setSizes = parties.map((party) => sizes[party] ?? 0)
  const isOneToOne = clk?.one_to_one ?? true
  return isOneToOne ? Math.min(...setSizes) : max_pairs_per_record * setSizes.reduce((sum, size) => sum + size, 0)
}

/**
 * Returns the reason to refuse a piece of a peer; undefined for a valid piece. `max_matches`: the limit of a run of
 * this site.
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
  if (!isExpected) return `the agreement expects no ${round} from ${from}`
  const [min_items, max_items] = computeItemBounds(round, exchange, { from, self, max_matches })
  if (items < min_items || items > max_items)
    return `the set has ${items} ${round}, and ${min_items === max_items ? '' : 'at most '}${max_items} were agreed`
  if (number >= of) return `the piece has number ${number}, and the set has ${of} pieces (0 to ${of - 1})`
  if (round === 'records') return findRecordsFault(piece, exchange)
  if (rows !== undefined || data === undefined) return `a piece of ${round} must have data and no rows`
  const width = computeItemBytes(round, exchange)
  const items_per_piece = Math.floor(max_piece_bytes / width)
  const expected_pieces = Math.max(1, Math.ceil(items / items_per_piece))
  if (of !== expected_pieces) return `the set of ${items} items has ${of} pieces, and must have ${expected_pieces}`
  const expected = Math.min(items_per_piece, items - number * items_per_piece) * width
  const bytes = Buffer.from(data, 'base64url')
  if (bytes.length !== expected) return `the piece has ${bytes.length} bytes, and must have ${expected}`
  return bytes.toString('base64url') === data ? undefined : 'the data is not canonical base64url'
}

function findRecordsFault({ rows, data, of, items }: PieceMessage, { agreement }: ExchangeSizes): string | undefined {
  if (data !== undefined || rows === undefined) return 'a piece of records must have rows and no data'
  const isComplete = rows.every((row) => row.length === agreement.fields.length + 1 && row[0] !== '')
  if (!isComplete) return 'each row must have an id and the agreed fields'
  const max_pieces = Math.min(Math.max(1, items), computeMaxPieces(items, agreement))
  return of <= max_pieces && rows.length <= items
    ? undefined
    : `the set has ${of} pieces and this piece ${rows.length} rows; at most ${max_pieces} pieces and ${items} rows are allowed`
}
