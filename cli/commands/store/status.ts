// Shows how much data the site holds, role by role.
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption, requireWholeSite, roleOption, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { formatTable, type OutputRow, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'store status',
  summary: 'Show the databases, their size and their contents',
  options: { ...roleOption, ...siteOption, ...jsonOption },
  example: 'platform store status',
  async run(params, terminal) {
    const folder = await requireWholeSite(params, terminal)
    const { readStoreStatus } = await offline.store()
    const items = await readStoreStatus(folder, terminal.env, params.role)
    const columns = [
      'role',
      { heading: 'size', cell: (row: OutputRow) => `${(Number(row.bytes) / 1e6).toFixed(1)} MB` },
      { heading: 'documents', cell: (row: OutputRow) => formatDocumentCounts(row.documents as OutputRow) },
      'audit_records',
      'file',
    ]
    printResult(terminal, params.json, { items }, () =>
      formatTable(terminal, items, columns, 'the site has no data yet'),
    )
    return 0
  },
})

function formatDocumentCounts(documents: OutputRow): string {
  return Object.entries(documents)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}
