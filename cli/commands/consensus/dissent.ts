// Lists dissents, or explains one of them as prose.
import type { ServiceClient } from '../../client/client.ts'
import { fetchAllItems, fetchItems } from '../../client/fetch-items.ts'
import { pageOptions, selectItems } from '../../options/page-options.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { flag, text } from '../../program/params.ts'
import { formatTable, keepLayout } from '../../terminal/output.ts'
import { printItems } from '../../terminal/print-items.ts'

export const definition = command({
  words: 'consensus dissent',
  summary: 'List dissents, or explain one',
  positionals: { id: text('ID', 'Id of a dissent, or of a session for its last dissent (default: list all)') },
  options: {
    open: flag('Only open dissents'),
    markdown: flag('Print the explanation as Markdown'),
    ...pageOptions,
    ...serviceOptions,
  },
  example: 'platform consensus dissent ses_…',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    if (params.id === undefined) {
      const filter = { status: params.open ? 'open' : undefined }
      const page = await fetchItems(api, 'consensus.dissent.list', filter, selectItems(params))
      const columns = ['id', 'session_id', 'reason', 'method', 'conflict', 'status', 'created_at']
      printItems(terminal, params.json, page, () => formatTable(terminal, page.items, columns, 'no dissents'))
      return 0
    }
    const id = await resolveDissentId(api, params.id)
    if (params.json) {
      terminal.print(JSON.stringify(await api.call('consensus.dissent.get', { id })))
      return 0
    }
    const type = params.markdown ? 'text/markdown' : 'text/plain'
    terminal.print(keepLayout((await api.text('consensus.dissent.explain', { id }, type)).trimEnd()))
    return 0
  },
})

/** Resolves a session to its last dissent. */
async function resolveDissentId(api: ServiceClient, id: string): Promise<string> {
  if (!id.startsWith('ses_')) return id
  const dissents = await fetchAllItems(api, 'consensus.dissent.by-session', { session_id: id })
  return String(dissents.at(-1)?.id ?? id)
}
