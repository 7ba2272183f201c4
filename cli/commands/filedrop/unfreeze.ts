// Opens a frozen channel from a peer again, with a reason that stays in the audit chain.
import { command } from '../../command.ts'
import { requireConsent } from '../../consent.ts'
import { show } from '../../output.ts'
import { flag, needed, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'filedrop unfreeze',
  summary: 'take messages of a peer again, after you have looked into what froze its channel',
  notes: [
    'A channel freezes when its sender signed two messages under one number, or two histories of its keys. Settle with',
    'its people which is true; `platform filedrop quarantine list --peer PEER` shows the evidence, which stays there.',
    'Nothing that was refused comes in by this. A channel to a peer waits for `platform filedrop epoch` instead.',
  ].join('\n'),
  takes: { peer: needed(text('PEER', 'the peer whose messages come in again')) },
  options: {
    reason: needed(text('TEXT', 'what you found out, for the record')),
    yes: flag('do not ask'),
    ...serviceOptions,
  },
  example: 'platform filedrop unfreeze bravo --reason "restored without a new epoch; they open one now" --yes',
  async run({ peer, reason, ...given }, terminal) {
    const api = await service(given, terminal)
    await requireConsent(terminal, given.yes, `Take messages of ${peer} again?`)
    const opened = await api.call('site.channel.unfreeze', { peer, reason })
    show(terminal, given.json, opened, () => `open again: ${opened.channel}; it was frozen because ${opened.was}`)
    return 0
  },
})
