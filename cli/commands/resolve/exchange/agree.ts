// Agrees to what a peer proposes, after saying what that gives away.
import { command, Failure } from '../../../command.ts'
import { exchangeText, warn } from '../../../exchange-text.ts'
import { show } from '../../../output.ts'
import { flag, needed, text } from '../../../params.ts'
import { service, serviceOptions } from '../../../service.ts'

export const definition = command({
  words: 'resolve exchange agree',
  summary: 'agree to an exchange that a peer proposes',
  notes: 'Without --yes it only shows what is proposed and what that gives away. A linker brings no file.',
  takes: { id: needed(text('EXCHANGE', 'its id')) },
  options: {
    file: text('FILE', 'the data file that this site brings, in the tenant’s folder at the site'),
    yes: flag('agree to it'),
    ...serviceOptions,
  },
  example: 'platform resolve exchange agree xchg_… --file members.csv --yes',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const proposed = await api.call('resolution.exchange.get', { uid: given.id })
    warn(terminal, proposed)
    if (!given.yes) {
      show(terminal, given.json, proposed, () => exchangeText(terminal, proposed))
      throw new Failure(2, 'nothing was agreed', 'the same with --yes agrees')
    }
    const data = given.file === undefined ? {} : { data: { file: given.file } }
    const agreed = await api.call('resolution.exchange.agree', { uid: given.id, ...data })
    show(terminal, given.json, agreed, () => exchangeText(terminal, agreed))
    return 0
  },
})
