// Puts a match of the service to a consensus session.
import { command, Failure } from '../../command.ts'
import { matchText } from '../../match-text.ts'
import { show } from '../../output.ts'
import { needed, rest, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'resolve consult',
  summary: 'have a consensus session decide a match of the service',
  notes: 'The session is opened soon after; `platform resolve review` goes over what it decides.',
  takes: { id: needed(text('MATCH', 'the match’s id')) },
  options: {
    quorum: needed(text('M/N', 'how many contributors are needed, of how many at most')),
    invite: rest('PEER', 'peers to invite; each may contribute'),
    ...serviceOptions,
  },
  example: 'platform resolve consult match_… --quorum 2/3 --invite bravo charlie',
  async run(given, terminal) {
    const policy = policyIn(given.quorum)
    const api = await service(given, terminal)
    const input = { correlation_id: given.id, policy, invite: given.invite }
    const match = await api.call('resolution.entity-match.consult', input)
    show(terminal, given.json, match, () => matchText(terminal, match))
    return 0
  },
})

function policyIn(quorum: string) {
  const [, m, n] = /^(\d{1,4})\/(\d{1,4})$/.exec(quorum) ?? []
  if (m === undefined) throw new Failure(2, `${JSON.stringify(quorum)} is not M/N, as in 2/3`)
  return { m: Number(m), n: Number(n) }
}
