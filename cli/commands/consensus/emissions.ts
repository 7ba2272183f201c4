// Lists the decisions on lenses that peers have reported to this site.
import { listAllItems } from '../../client/client.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, integer, text, withDefault } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'consensus emissions',
  summary: 'List decisions on lenses that peers reported, latest received first',
  options: {
    lens: text('ID', 'Only decisions on this lens'),
    session: text('ID', 'Only decisions of this session, by its id at its origin'),
    correlation: text('ID', 'Only decisions on this EntityMatch'),
    origin: text('PEER', 'Only decisions of this peer'),
    status: choice('STATUS', 'Only decisions in force, or only withdrawn ones', ['standing', 'withdrawn']),
    limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform consensus emissions --origin bravo --status standing',
  async run(params, terminal) {
    const { lens, session, correlation, origin, status, limit } = params
    const api = await connectService(params, terminal)
    const filter = { lens_id: lens, session_id: session, correlation_id: correlation, origin, status }
    const items = await listAllItems(api, 'consensus.emission.list', filter, limit)
    const columns = ['origin', 'session_id', 'status', 'decision', 'score', 'attested', 'lens_id', 'at']
    printResult(terminal, params.json, { items }, () =>
      formatTable(terminal, items, columns, 'no peer has reported such a decision'),
    )
    return 0
  },
})
