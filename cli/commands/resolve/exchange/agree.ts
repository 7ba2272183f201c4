// Agrees to what a peer proposes, after saying what that gives away.

import { formatExchange, noteExchangeWarnings } from '../../../format/exchange.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { flag, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve exchange agree',
  summary: 'agree to an exchange that a peer proposes',
  notes: 'Without --yes it only shows what is proposed and what that gives away. A linker brings no file.',
  positionals: { id: required(text('EXCHANGE', 'its id')) },
  options: {
    file: text('FILE', 'the data file that this site brings, in the tenant’s folder at the site'),
    yes: flag('agree to it'),
    ...serviceOptions,
  },
  example: 'platform resolve exchange agree xchg_… --file members.csv --yes',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const proposed = await api.call('resolution.exchange.get', { uid: given.id })
    noteExchangeWarnings(terminal, proposed)
    if (!given.yes) {
      printResult(terminal, given.json, proposed, () => formatExchange(terminal, proposed))
      throw new CommandFailure(2, 'nothing was agreed', 'the same with --yes agrees')
    }
    const data = given.file === undefined ? {} : { data: { file: given.file } }
    const agreed = await api.call('resolution.exchange.agree', { uid: given.id, ...data })
    printResult(terminal, given.json, agreed, () => formatExchange(terminal, agreed))
    return 0
  },
})
