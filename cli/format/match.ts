// Formats matches of entity resolution: as a row of a list, and after a decision.
import type { ApiObject } from '../client/client.ts'
import { formatFields } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

type MatchRecordRef = { readonly node_id: string; readonly record_id: string }
type MatchListItem = {
  readonly uid: string
  readonly left: MatchRecordRef
  readonly right: MatchRecordRef
  readonly score: { readonly bits?: number; readonly likeness?: number }
  readonly linked: boolean
  readonly state: string
  readonly decided_by?: string
  readonly settled?: boolean
}

export function formatMatchRow(item: ApiObject): ApiObject {
  const { left, right, score } = item as unknown as MatchListItem
  return { ...item, left: formatRecordRef(left), right: formatRecordRef(right), score: formatMatchScore(score) }
}

/** Fields of a match. `settled`: whether the clusters reflect the decision already. */
export function formatMatch(terminal: Terminal, match: ApiObject): string {
  const { uid, left, right, score, state, decided_by, linked, settled } = match as unknown as MatchListItem
  return formatFields(terminal, {
    match: uid,
    left: formatRecordRef(left),
    right: formatRecordRef(right),
    score: formatMatchScore(score),
    state,
    decided_by,
    linked: settled === false ? `${linked}, until the clusters are updated` : linked,
  })
}

function formatRecordRef({ node_id, record_id }: MatchRecordRef): string {
  return `${node_id}/${record_id}`
}

function formatMatchScore({ bits, likeness }: MatchListItem['score']): string {
  return bits === undefined ? `likeness ${likeness?.toFixed(3)}` : `${bits.toFixed(1)} bits`
}
