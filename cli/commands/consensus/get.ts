// Shows the current state of a session, with its contributions on request.
import { fetchAllItems } from '../../client/fetch-items.ts'
import { formatSession } from '../../format/session.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import { formatTable, line_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'consensus get',
  summary: 'Show a session',
  positionals: { id: required(text('SESSION', 'Id of the session')) },
  options: { contributions: flag('Include the contributions'), ...serviceOptions },
  example: 'platform consensus get ses_… --contributions',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const session = await api.call('consensus.session.get', { id: params.id })
    if (!params.contributions) {
      printResult(terminal, params.json, session, () => formatSession(terminal, session))
      return 0
    }
    const record = await fetchAllItems(api, 'consensus.contribution.list', { id: params.id })
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
    printResult(terminal, params.json, { ...session, record }, () =>
      [formatSession(terminal, session), '', formatTable(terminal, record, columns, 'no contributions yet')].join(
        line_break,
      ),
    )
    return 0
  },
})
