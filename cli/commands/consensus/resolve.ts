// Forces another attempt to decide a session.

import { formatSession } from '../../format/session.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { integer, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'consensus resolve',
  summary: 'Decide a session again from its current contributions',
  positionals: { id: required(text('SESSION', 'Id of the session')) },
  options: {
    ifVersion: integer('VERSION', 'Change the session only if it is still at this version', 1),
    ...serviceOptions,
  },
  example: 'platform consensus resolve ses_…',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const extras = params.ifVersion === undefined ? {} : { if_match: params.ifVersion }
    const session = await api.call('consensus.session.resolve', { id: params.id }, extras)
    printResult(terminal, params.json, session, () => formatSession(terminal, session))
    return 0
  },
})
