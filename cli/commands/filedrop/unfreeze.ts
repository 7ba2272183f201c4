// Opens a frozen channel from a peer again, with a reason that stays in the audit chain.

import { requireConsent } from '../../confirmation/require-consent.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'filedrop unfreeze',
  summary: 'take messages of a peer again, after you have looked into what froze its channel',
  notes: [
    'A channel freezes when its sender signed two messages under one number, or two histories of its keys. Settle with',
    'its people which is true; `platform filedrop quarantine list --peer PEER` shows the evidence, which stays there.',
    'Nothing that was refused comes in by this. A channel to a peer waits for `platform filedrop epoch` instead.',
  ].join('\n'),
  positionals: { peer: required(text('PEER', 'the peer whose messages come in again')) },
  options: {
    reason: required(text('TEXT', 'what you found out, for the record')),
    yes: flag('do not ask'),
    ...serviceOptions,
  },
  example: 'platform filedrop unfreeze bravo --reason "restored without a new epoch; they open one now" --yes',
  async run({ peer, reason, ...given }, terminal) {
    const api = await connectService(given, terminal)
    await requireConsent(terminal, given.yes, `Take messages of ${peer} again?`)
    const opened = await api.call('site.channel.unfreeze', { peer, reason })
    printResult(
      terminal,
      given.json,
      opened,
      () => `open again: ${opened.channel}; it was frozen because ${opened.was}`,
    )
    return 0
  },
})
