// Lists what peers decided on lenses, as they told this site.
import { listed } from '../../client/client.ts'
import { command } from '../../command.ts'
import { show, table } from '../../output.ts'
import { choice, otherwise, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'consensus emissions',
  summary: 'list what peers decided on lenses, the latest heard of first',
  options: {
    lens: text('ID', 'only those on this lens'),
    session: text('ID', 'only those of this session, by its id at its origin'),
    correlation: text('ID', 'only those on this EntityMatch'),
    origin: text('PEER', 'only those of this peer'),
    status: choice('STATUS', 'only those that stand, or that were withdrawn', ['standing', 'withdrawn']),
    limit: otherwise(50, whole('COUNT', 'at most so many', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform consensus emissions --origin bravo --status standing',
  async run(given, terminal) {
    const { lens, session, correlation, origin, status, limit } = given
    const api = await service(given, terminal)
    const filter = { lens_id: lens, session_id: session, correlation_id: correlation, origin, status }
    const items = await listed(api, 'consensus.emission.list', filter, limit)
    const columns = ['origin', 'session_id', 'status', 'decision', 'score', 'attested', 'lens_id', 'at']
    show(terminal, given.json, { items }, () => table(terminal, items, columns, 'no peer has told of such a decision'))
    return 0
  },
})
