// Gives missing numbers of a peer up, with a reason that stays in the audit chain.
import { requireConsent } from '../../confirmation/require-consent.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { flag, integer, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'filedrop skip',
  summary: 'Give up missing numbers of a peer, so that later messages are applied',
  notes: [
    'Messages that wait behind the numbers are applied, as if nothing were missing. A message that arrives later under',
    'such a number is refused, unless its kind is applied in any order. Ask for a resend first:',
    '`platform filedrop gaps PEER`.',
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
  example: 'platform filedrop skip bravo --first 5 --last 5 --reason "bravo confirms that number 5 is lost" --yes',
  async run({ peer, first, last, epoch, reason, ...params }, terminal) {
    const api = await connectService(params, terminal)
    await requireConsent(terminal, params.yes, `Give up the missing numbers ${first} to ${last} of ${peer}?`)
    const decision = await api.call('site.gap.skip', { peer, first, last, epoch, reason })
    if (decision.numbers === 0)
      throw new CommandFailure(1, 'no number of this range is missing: platform filedrop waiting PEER lists what waits')
    printResult(terminal, params.json, decision, () => `${decision.numbers} missing numbers given up`)
    return 0
  },
})
