// Withdraws a session.

import { formatSession } from '../../format/session.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { integer, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'consensus cancel',
  summary: 'Withdraw a session',
  notes: 'A ratified session is retracted.',
  positionals: { id: required(text('SESSION', 'Id of the session')) },
  options: {
    ifVersion: integer('VERSION', 'Change the session only if it is still at this version', 1),
    ...serviceOptions,
  },
  example: 'platform consensus cancel ses_…',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const extras = given.ifVersion === undefined ? {} : { if_match: given.ifVersion }
    const session = await api.call('consensus.session.cancel', { id: given.id }, extras)
    printResult(terminal, given.json, session, () => formatSession(terminal, session))
    return 0
  },
})
