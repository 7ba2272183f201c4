// Lists dissents, or explains one of them as prose.
import { listAllItems, type ServiceClient } from '../../client/client.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { flag, integer, text, withDefault } from '../../program/params.ts'
import { formatTable, keepLayout, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'consensus dissent',
  summary: 'List dissents, or explain one',
  positionals: { id: text('ID', 'Id of a dissent, or of a session for its last dissent (default: list all)') },
  options: {
    open: flag('Only open dissents'),
    markdown: flag('Print the explanation as Markdown'),
    limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform consensus dissent ses_…',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    if (params.id === undefined) {
      const items = await listAllItems(
        api,
        'consensus.dissent.list',
        { status: params.open ? 'open' : undefined },
        params.limit,
      )
      const columns = ['id', 'session_id', 'reason', 'method', 'conflict', 'status', 'created_at']
      printResult(terminal, params.json, { items }, () => formatTable(terminal, items, columns, 'no dissents'))
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
  const dissents = await listAllItems(api, 'consensus.dissent.by-session', { session_id: id }, Number.POSITIVE_INFINITY)
  return String(dissents.at(-1)?.id ?? id)
}
