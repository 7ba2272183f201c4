// Lists messages that were refused, newest first.

import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { integer, text, withDefault } from '../../../program/params.ts'
import { formatTable, type OutputRow, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'filedrop quarantine list',
  summary: 'List refused messages, newest first',
  options: {
    peer: text('NAME', 'Only messages from this peer'),
    limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 500)),
    ...serviceOptions,
  },
  example: 'platform filedrop quarantine list --peer bravo',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const { items } = await api.call('site.quarantine.list', { peer: params.peer, limit: params.limit })
    const rows = items as readonly Readonly<Record<string, unknown>>[]
    const requested = { heading: 'requested', cell: formatRequests }
    const columns = ['id', 'reason', 'detail', 'at', 'bytes', requested]
    printResult(terminal, params.json, { items: rows }, () =>
      formatTable(terminal, rows, columns, 'nothing is in quarantine'),
    )
    return 0
  },
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
