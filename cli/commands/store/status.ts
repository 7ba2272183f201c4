// Shows how much data the site holds, role by role.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { type Row, show, table } from '../../output.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'store status',
  summary: 'databases, their size and what they hold',
  options: { ...siteOption, ...jsonOption },
  example: 'platform store status',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { holdings } = await offline.store()
    const items = await holdings(folder, terminal.env)
    const columns = [
      'role',
      { heading: 'size', cell: (row: Row) => `${(Number(row.bytes) / 1e6).toFixed(1)} MB` },
      { heading: 'documents', cell: (row: Row) => countsOf(row.documents as Row) },
      'audit_records',
      'file',
    ]
    show(terminal, given.json, { items }, () => table(terminal, items, columns, 'the site has no data yet'))
    return 0
  },
})

function countsOf(documents: Row): string {
  return Object.entries(documents)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}
