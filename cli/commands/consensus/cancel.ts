// Withdraws a session.
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { needed, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'
import { sessionText } from '../../session-text.ts'

export const definition = command({
  words: 'consensus cancel',
  summary: 'withdraw a session; a ratified one is retracted',
  takes: { id: needed(text('SESSION', 'the session’s id')) },
  options: { ifVersion: whole('VERSION', 'only if the session is still at this version', 1), ...serviceOptions },
  example: 'platform consensus cancel ses_…',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const extras = given.ifVersion === undefined ? {} : { if_match: given.ifVersion }
    const session = await api.call('consensus.session.cancel', { id: given.id }, extras)
    show(terminal, given.json, session, () => sessionText(terminal, session))
    return 0
  },
})
