// Formats a consensus session.
import { formatFields, type OutputRow } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

export const sessionColumns = [
  'id',
  'state',
  'decision',
  { heading: 'score', cell: (row: OutputRow) => (row.result as OutputRow | undefined)?.score },
  { heading: 'heard', cell: formatContributors },
  'lens_id',
  'created_at',
]

/** Fields of a session: identity, state, result and evidence. */
export function formatSession(terminal: Terminal, session: OutputRow): string {
  const { id, state, reason, decision, lens_id, lens_version, classification, evidence_block_id, open_dissent_id } =
    session
  const result = session.result as OutputRow | undefined
  return formatFields(terminal, {
    session: id,
    state: reason ? `${state} (${reason})` : state,
    decision,
    score: result?.score,
    conflict: result?.conflict,
    heard: formatContributors(session),
    lens: `${lens_id} ${lens_version}`,
    subject: formatSessionSubject(session.subject as OutputRow | undefined),
    classification: (classification as OutputRow | undefined)?.level,
    supersedes: session.supersedes,
    rests_on: (session.rests_on as readonly string[] | undefined)?.join(', '),
    invited: (session.invited as readonly string[] | undefined)?.join(', ') || undefined,
    origin: (session.origin as OutputRow | undefined)?.peer,
    refused: formatInvalidResults(session.invalid_results as readonly OutputRow[] | undefined),
    evidence: evidence_block_id,
    dissent: open_dissent_id,
    created: session.created_at,
    version: session.version,
  })
}

/** The newest result of the origin that was refused as false. */
function formatInvalidResults(results: readonly OutputRow[] | undefined): string | undefined {
  const newest = results?.at(-1)
  if (!newest) return undefined
  return `false result of the origin (${newest.msg_id}): ${(newest.faults as readonly string[]).join('; ')}`
}

function formatContributors(session: OutputRow): string {
  const { m, n } = (session.policy ?? {}) as OutputRow
  return `${session.contributors} of ${n}, ${m} needed`
}

function formatSessionSubject(subject: OutputRow | undefined): string | undefined {
  return subject && `${subject.kind}: ${subject.left} and ${subject.right}`
}
