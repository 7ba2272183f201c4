// Matches of entity resolution as people read them: as a row of a list, and after a decision.
import type { Answered } from './client/client.ts'
import { fields } from './output.ts'
import type { Terminal } from './terminal.ts'

type Ref = { readonly node_id: string; readonly record_id: string }
type Match = {
  readonly uid: string
  readonly left: Ref
  readonly right: Ref
  readonly score: { readonly bits?: number; readonly likeness?: number }
  readonly linked: boolean
  readonly state: string
  readonly decided_by?: string
  readonly settled?: boolean
}

export function matchRow(item: Answered): Answered {
  const { left, right, score } = item as unknown as Match
  return { ...item, left: refText(left), right: refText(right), score: scoreText(score) }
}

/** `settled`: whether the clusters have followed the decision already. */
export function matchText(terminal: Terminal, answered: Answered): string {
  const { uid, left, right, score, state, decided_by, linked, settled } = answered as unknown as Match
  return fields(terminal, {
    match: uid,
    left: refText(left),
    right: refText(right),
    score: scoreText(score),
    state,
    decided_by,
    linked: settled === false ? `${linked}, until the clusters have followed` : linked,
  })
}

function refText({ node_id, record_id }: Ref): string {
  return `${node_id}/${record_id}`
}

function scoreText({ bits, likeness }: Match['score']): string {
  return bits === undefined ? `likeness ${likeness?.toFixed(3)}` : `${bits.toFixed(1)} bits`
}
