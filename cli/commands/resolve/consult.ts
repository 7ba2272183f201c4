// Puts a match of the service to a consensus session.

import { formatMatch } from '../../format/match.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { required, rest, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve consult',
  summary: 'have a consensus session decide a match of the service',
  notes: 'The session is opened soon after; `platform resolve review` goes over what it decides.',
  positionals: { id: required(text('MATCH', 'the match’s id')) },
  options: {
    quorum: required(text('M/N', 'how many contributors are needed, of how many at most')),
    invite: rest('PEER', 'peers to invite; each may contribute'),
    ...serviceOptions,
  },
  example: 'platform resolve consult match_… --quorum 2/3 --invite bravo charlie',
  async run(given, terminal) {
    const policy = parseQuorum(given.quorum)
    const api = await connectService(given, terminal)
    const input = { correlation_id: given.id, policy, invite: given.invite }
    const match = await api.call('resolution.entity-match.consult', input)
    printResult(terminal, given.json, match, () => formatMatch(terminal, match))
    return 0
  },
})

function parseQuorum(quorum: string) {
  const [, m, n] = /^(\d{1,4})\/(\d{1,4})$/.exec(quorum) ?? []
  if (m === undefined) throw new CommandFailure(2, `${JSON.stringify(quorum)} is not M/N, as in 2/3`)
  return { m: Number(m), n: Number(n) }
}
