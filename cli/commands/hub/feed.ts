// Lists the status feed of the coalition that this site's hub serves.
import { listed } from '../../client/client.ts'
import { command } from '../../command.ts'
import { show, table } from '../../output.ts'
import { otherwise, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'hub feed',
  summary: 'list what nodes told the coalition of their sessions, newest first',
  options: {
    node: text('NODE', 'only what this node told'),
    lens: text('ID', 'only sessions on this lens'),
    limit: otherwise(50, whole('COUNT', 'at most so many', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform hub feed --node bravo',
  async run(given, terminal) {
    const { node, lens, limit } = given
    const api = await service(given, terminal)
    const items = await listed(api, 'hub.feed.list', { node, lens_id: lens }, limit)
    const columns = ['seq', 'node', 'state', 'session_id', 'lens_id', 'at']
    show(terminal, given.json, { items }, () => table(terminal, items, columns, 'no node has told of anything'))
    return 0
  },
})
