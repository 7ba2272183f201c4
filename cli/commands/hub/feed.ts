// Lists the status feed of the coalition that this site's hub serves.
import { listAllItems } from '../../client/client.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { integer, text, withDefault } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'hub feed',
  summary: 'List session states that nodes reported to the hub, newest first',
  options: {
    node: text('NODE', 'Only reports of this node'),
    lens: text('ID', 'Only sessions on this lens'),
    limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform hub feed --node bravo',
  async run(params, terminal) {
    const { node, lens, limit } = params
    const api = await connectService(params, terminal)
    const items = await listAllItems(api, 'hub.feed.list', { node, lens_id: lens }, limit)
    const columns = ['seq', 'node', 'state', 'session_id', 'lens_id', 'at']
    printResult(terminal, params.json, { items }, () =>
      formatTable(terminal, items, columns, 'no node has reported a session'),
    )
    return 0
  },
})
