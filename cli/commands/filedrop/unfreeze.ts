// Opens a frozen channel from a peer again, with a reason that stays in the audit chain.

import { requireConsent } from '../../confirmation/require-consent.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'filedrop unfreeze',
  summary: 'Open a frozen channel from a peer again',
  notes: [
    'A channel freezes when its sender signed two messages under one number, or two histories of its keys. First',
    'agree with its operators which one is right; `platform filedrop quarantine list --peer PEER` shows the',
    'evidence, which stays there. Messages that were refused stay refused. A frozen channel to a peer needs',
    '`platform filedrop epoch` instead.',
  ].join('\n'),
  positionals: { peer: required(text('PEER', 'Peer whose channel to open')) },
  options: {
    reason: required(text('TEXT', 'Finding, kept in the audit chain')),
    yes: flag('Skip the confirmation'),
    ...serviceOptions,
  },
  example: 'platform filedrop unfreeze bravo --reason "restored without a new epoch; they open one now" --yes',
  async run({ peer, reason, ...params }, terminal) {
    const api = await connectService(params, terminal)
    await requireConsent(terminal, params.yes, `Open the channel from ${peer} again?`)
    const channel = await api.call('site.channel.unfreeze', { peer, reason })
    printResult(
      terminal,
      params.json,
      channel,
      () => `open again: ${channel.channel}; it was frozen because ${channel.was}`,
    )
    return 0
  },
})
