// Opens a consensus session about a match of the service.

import { formatMatch } from '../../format/match.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { required, rest, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve consult',
  summary: 'Open a consensus session to decide a match of the service',
  notes: 'The session opens soon after. `platform resolve review` overrides its decision.',
  positionals: { id: required(text('MATCH', 'Id of the match')) },
  options: {
    quorum: required(text('M/N', 'Contributors needed, of the maximum number')),
    invite: rest('PEER', 'Peers to invite; each may contribute (default: none)'),
    ...serviceOptions,
  },
  example: 'platform resolve consult match_… --quorum 2/3 --invite bravo charlie',
  async run(params, terminal) {
    const policy = parseQuorum(params.quorum)
    const api = await connectService(params, terminal)
    const input = { correlation_id: params.id, policy, invite: params.invite }
    const match = await api.call('resolution.entity-match.consult', input)
    printResult(terminal, params.json, match, () => formatMatch(terminal, match))
    return 0
  },
})

function parseQuorum(quorum: string) {
  const [, m, n] = /^(\d{1,4})\/(\d{1,4})$/.exec(quorum) ?? []
  if (m === undefined) throw new CommandFailure(2, `--quorum is ${JSON.stringify(quorum)}; it must be M/N, such as 2/3`)
  return { m: Number(m), n: Number(n) }
}
