// Formats a change of an entity as one line of text.
import type { OutputRow } from '../terminal/output.ts'

type RefItem = { readonly node_id: string; readonly record_id: string }
type LinkItem = {
  readonly ref: RefItem
  readonly with: RefItem
  readonly match: string
  readonly score: { readonly bits?: number; readonly likeness?: number }
}
type ChangeItem = {
  readonly at: string
  readonly entity: string
  readonly change: string
  readonly size: number
  readonly joined?: readonly RefItem[]
  readonly left?: readonly RefItem[]
  readonly unlisted?: number
  readonly from?: readonly string[]
  readonly into?: readonly string[]
  readonly links?: readonly LinkItem[]
  readonly cause: { readonly kind: string; readonly run_id?: string; readonly match?: string; readonly by?: string }
}

/** Records of a line; the JSON output has all. */
const max_shown_records = 5

/** Time, entity, what changed, with the records and entities concerned, and why. */
export function formatEntityChange(row: OutputRow): string {
  const {
    at,
    entity,
    change,
    size,
    joined,
    left,
    from,
    into,
    links,
    cause,
    unlisted = 0,
  } = row as unknown as ChangeItem
  const parts = [
    ...formatRecords('+', joined, unlisted),
    ...formatRecords('-', left, joined ? 0 : unlisted),
    ...(from ? [`from ${from.join(', ')}`] : []),
    ...(into ? [`into ${into.join(', ')}`] : []),
    ...(links ?? []).slice(0, max_shown_records).map(formatLink),
  ]
  const { kind, run_id, match, by } = cause
  const reason = [kind, run_id, match, by && `by ${by}`].filter((text) => text !== undefined).join(' ')
  return `${at}  ${entity}  ${change}  ${parts.map((part) => `${part}  `).join('')}now ${size} records  (${reason})`
}

function formatRecords(sign: string, refs: readonly RefItem[] = [], unlisted: number): string[] {
  if (refs.length === 0) return []
  const hidden = Math.max(0, refs.length - max_shown_records) + unlisted
  const shown = refs.slice(0, max_shown_records).map((ref) => `${sign}${formatRef(ref)}`)
  return [`${shown.join(' ')}${hidden > 0 ? ` and ${hidden} more` : ''}`]
}

function formatLink({ ref, with: other, match, score }: LinkItem): string {
  const strength = score.bits === undefined ? `likeness ${score.likeness?.toFixed(2)}` : `${score.bits.toFixed(2)} bits`
  return `${formatRef(ref)} = ${formatRef(other)} (${strength}, ${match})`
}

function formatRef({ node_id, record_id }: RefItem): string {
  return `${node_id}/${record_id}`
}
