// Shows how much data the site holds, role by role.
import { offline, type RoleStoreStatus } from '../../../daemon/offline/offline.ts'
import { jsonOption, locateSite, requireSite, roleOption, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { runAsOwners } from '../../program/run-as-owners.ts'
import { formatTable, type OutputRow, printResult } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'store status',
  summary: 'Show the databases, their size and their contents',
  options: { ...roleOption, ...siteOption, ...jsonOption },
  example: 'platform store status',
  async run(params, terminal) {
    const words = ['store', 'status']
    const folder = locateSite(params, terminal)
    const items =
      (params.role === undefined && (await runAsOwners<RoleStoreStatus>({ words, ...params, folder, terminal }))) ||
      (await readHere(params, terminal))
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

async function readHere(
  params: { readonly site: string | undefined; readonly role: string | undefined },
  terminal: Terminal,
): Promise<RoleStoreStatus[]> {
  const folder = requireSite(params, terminal)
  const { readStoreStatus } = await offline.store()
  return await readStoreStatus(folder, terminal.env, params.role)
}

function formatDocumentCounts(documents: OutputRow): string {
  return Object.entries(documents)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}
