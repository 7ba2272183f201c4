// Quarantines messages of a peer that cannot be applied, with a reason that stays in the audit chain.
import { requireConsent } from '../../confirmation/require-consent.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { flag, integer, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'filedrop discard',
  summary: 'Quarantine messages that wait behind a gap or for a role',
  notes: [
    '`platform filedrop waiting PEER` lists them. Their numbers count as arrived, so that the peer does not send them',
    'again; the files stay in quarantine.',
  ].join('\n'),
  positionals: { peer: required(text('PEER', 'Peer that sent the messages')) },
  options: {
    first: required(integer('NUMBER', 'First number')),
    last: required(integer('NUMBER', 'Last number; at most 100,000 at once')),
    epoch: integer('NUMBER', 'Epoch (default: the current one)', 1, 99_999_999),
    reason: required(text('TEXT', 'Reason, kept in the audit chain')),
    yes: flag('Skip the confirmation'),
    ...serviceOptions,
  },
  example: 'platform filedrop discard bravo --first 7 --last 9 --reason "signals are not used here" --yes',
  async run({ peer, first, last, epoch, reason, ...params }, terminal) {
    const api = await connectService(params, terminal)
    await requireConsent(terminal, params.yes, `Discard the waiting messages ${first} to ${last} of ${peer}?`)
    const decision = await api.call('site.message.discard', { peer, first, last, epoch, reason })
    if (decision.numbers === 0)
      throw new CommandFailure(1, 'no message of this range waits: platform filedrop waiting PEER lists what waits')
    printResult(terminal, params.json, decision, () => `${decision.numbers} messages moved to quarantine`)
    return 0
  },
})
