// Lists messages that were refused, newest first.
import { command } from '../../../command.ts'
import { type Row, show, table } from '../../../output.ts'
import { otherwise, text, whole } from '../../../params.ts'
import { service, serviceOptions } from '../../../service.ts'

export const definition = command({
  words: 'filedrop quarantine list',
  summary: 'refused messages, newest first',
  options: {
    peer: text('NAME', 'only those from this peer'),
    limit: otherwise(50, whole('COUNT', 'at most so many', 1, 500)),
    ...serviceOptions,
  },
  example: 'platform filedrop quarantine list --peer bravo',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const { items } = await api.call('site.quarantine.list', { peer: given.peer, limit: given.limit })
    const rows = items as readonly Readonly<Record<string, unknown>>[]
    const requested = {
      heading: 'release requested by',
      cell: (row: Row) =>
        row.is_release_withheld
          ? '(beyond your clearance)'
          : (row.release as { subject?: string } | undefined)?.subject,
    }
    const columns = ['id', 'reason', 'detail', 'at', 'bytes', requested]
    show(terminal, given.json, { items: rows }, () => table(terminal, rows, columns, 'nothing is in quarantine'))
    return 0
  },
})
