// Lists messages that were refused, newest first.
import { listCommand } from '../../../program/list-command.ts'
import { text } from '../../../program/params.ts'
import type { OutputRow } from '../../../terminal/output.ts'

export const definition = listCommand({
  words: 'filedrop quarantine list',
  summary: 'List refused messages, newest first',
  options: { peer: text('NAME', 'Only messages from this peer') },
  example: 'platform filedrop quarantine list --peer bravo',
  operation: 'site.quarantine.list',
  input: ({ peer }) => ({ peer }),
  columns: ['id', 'reason', 'detail', 'at', 'bytes', { heading: 'requested', cell: formatRequests }],
  empty: 'nothing is in quarantine',
})

/** Who has requested a release or a dismissal, which a second person can approve. */
function formatRequests({ is_release_withheld, release, dismissal }: OutputRow): string {
  const subjectOf = (request: unknown) => (request as { subject?: string } | undefined)?.subject
  const byRelease = is_release_withheld ? '(beyond your clearance)' : subjectOf(release)
  const byDismissal = subjectOf(dismissal)
  return [
    ...(byRelease === undefined ? [] : [`release by ${byRelease}`]),
    ...(byDismissal === undefined ? [] : [`dismissal by ${byDismissal}`]),
  ].join(', ')
}
