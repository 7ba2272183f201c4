// A match of entity resolution as people read it.
import type { Answered } from './client/client.ts'
import { fields } from './output.ts'
import type { Terminal } from './terminal.ts'

type Ref = { readonly node_id: string; readonly record_id: string }
type Listed = {
  readonly left: Ref
  readonly right: Ref
  readonly score: { readonly bits?: number; readonly likeness?: number }
}
type Match = Listed & {
  readonly uid: string
  readonly state: string
  readonly decided_by: string
  readonly confidence?: number
  readonly settled: boolean
  readonly rulings: readonly { readonly session_id: string; readonly status: string }[]
}

/** The same match, its records and its score each as one word of a table. */
export function matchRow(item: Answered): Answered {
  const { left, right, score } = item as unknown as Listed
  return { ...item, left: nameOf(left), right: nameOf(right), score: scoreText(score) }
}

export function matchText(terminal: Terminal, answered: Answered): string {
  const { uid, left, right, score, state, decided_by, confidence, settled, rulings } = answered as unknown as Match
  return fields(terminal, {
    match: uid,
    left: nameOf(left),
    right: nameOf(right),
    score: scoreText(score),
    ...(confidence === undefined ? {} : { confidence: confidence.toFixed(4) }),
    state,
    decided_by,
    clusters: settled ? 'hold it' : 'follow soon',
    ...(rulings.length > 0
      ? { sessions: rulings.map((each) => `${each.session_id} (${each.status})`).join(', ') }
      : {}),
  })
}

function nameOf({ node_id, record_id }: Ref): string {
  return `${node_id}/${record_id}`
}

function scoreText({ bits, likeness }: Listed['score']): string {
  return bits === undefined ? `likeness ${likeness?.toFixed(3)}` : `${bits.toFixed(1)} bits`
}
