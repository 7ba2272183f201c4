// Agrees to the exchange that a peer proposes, after showing what it discloses.

import { formatExchange, noteExchangeWarnings } from '../../../format/exchange.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { flag, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve exchange agree',
  summary: 'Agree to an exchange that a peer proposes',
  notes: 'Without --yes, only shows the proposal and what it discloses. A linker brings no file.',
  positionals: { id: required(text('EXCHANGE', 'Id of the exchange')) },
  options: {
    file: text('FILE', 'Data file of this site, in the tenant’s folder at the site'),
    yes: flag('Agree without a question'),
    ...serviceOptions,
  },
  example: 'platform resolve exchange agree xchg_… --file members.csv --yes',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const proposed = await api.call('resolution.exchange.get', { uid: params.id })
    noteExchangeWarnings(terminal, proposed)
    if (!params.yes) {
      printResult(terminal, params.json, proposed, () => formatExchange(terminal, proposed))
      throw new CommandFailure(
        2,
        'the exchange needs your agreement; nothing was changed',
        'read the proposal, then run it again with --yes',
      )
    }
    const data = params.file === undefined ? {} : { data: { file: params.file } }
    const agreed = await api.call('resolution.exchange.agree', { uid: params.id, ...data })
    printResult(terminal, params.json, agreed, () => formatExchange(terminal, agreed))
    return 0
  },
})
