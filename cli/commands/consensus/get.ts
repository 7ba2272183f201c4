// Shows a session as it stands, with its contributions.
import { listed } from '../../client/client.ts'
import { command } from '../../command.ts'
import { show, table } from '../../output.ts'
import { flag, needed, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'
import { sessionText } from '../../session-text.ts'

export const definition = command({
  words: 'consensus get',
  summary: 'show a session',
  takes: { id: needed(text('SESSION', 'the session’s id')) },
  options: { contributions: flag('with the record of its contributions'), ...serviceOptions },
  example: 'platform consensus get ses_… --contributions',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const session = await api.call('consensus.session.get', { id: given.id })
    if (!given.contributions) {
      show(terminal, given.json, session, () => sessionText(terminal, session))
      return 0
    }
    const record = await listed(api, 'consensus.contribution.list', { id: given.id }, Number.POSITIVE_INFINITY)
    const columns = [
      'ordinal',
      'contributor_id',
      'pair_score',
      'accuracy',
      'credibility',
      'signer_key_id',
      'standing',
      'at',
    ]
    show(terminal, given.json, { ...session, record }, () =>
      [sessionText(terminal, session), '', table(terminal, record, columns, 'no contributions yet')].join('\n'),
    )
    return 0
  },
})
