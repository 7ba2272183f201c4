// A consensus session as people read it.
import { fields, type Row } from './output.ts'
import type { Terminal } from './terminal.ts'

export const sessionColumns = [
  'id',
  'state',
  'decision',
  { heading: 'score', cell: (row: Row) => (row.result as Row | undefined)?.score },
  { heading: 'heard', cell: heard },
  'lens_id',
  'created_at',
]

/** What it is, where it stands, what it rests on. */
export function sessionText(terminal: Terminal, session: Row): string {
  const { id, state, reason, decision, lens_id, lens_version, classification, evidence_block_id, open_dissent_id } =
    session
  const result = session.result as Row | undefined
  return fields(terminal, {
    session: id,
    state: reason ? `${state} (${reason})` : state,
    decision,
    score: result?.score,
    conflict: result?.conflict,
    heard: heard(session),
    lens: `${lens_id} ${lens_version}`,
    subject: subjectOf(session.subject as Row | undefined),
    classification: (classification as Row | undefined)?.level,
    invited: (session.invited as readonly string[] | undefined)?.join(', ') || undefined,
    origin: (session.origin as Row | undefined)?.peer,
    evidence: evidence_block_id,
    dissent: open_dissent_id,
    created: session.created_at,
    version: session.version,
  })
}

function heard(session: Row): string {
  const { m, n } = (session.policy ?? {}) as Row
  return `${session.contributors} of ${n}, ${m} needed`
}

function subjectOf(subject: Row | undefined): string | undefined {
  return subject && `${subject.kind}: ${subject.left} and ${subject.right}`
}
