// Approves the release that another person has asked for: with this second signature the message is taken in once more.
import { offline } from '../../../../daemon/boot/offline.ts'
import { sha384 } from '../../../../daemon/kernel/canonical.ts'
import { type ReleaseApproval, releaseIn, releasePayload, releaseRequest } from '../../../../daemon/kernel/release.ts'
import { command, Failure } from '../../../command.ts'
import { show } from '../../../output.ts'
import { needed, text } from '../../../params.ts'
import { passphraseOfKey, passphraseOption } from '../../../passphrase.ts'
import { itemToSign } from '../../../quarantine-item.ts'
import { releaseText } from '../../../release-text.ts'
import { serviceAs, serviceOptions } from '../../../service.ts'

export const definition = command({
  words: 'filedrop quarantine approve',
  summary: 'approve the release that another person has requested',
  notes: [
    'Look at the message first: `platform filedrop quarantine show ITEM`. You sign for the files that lie there now, and',
    'for the request as it was signed. The key and the token must be yours, and not those of who requested it.',
  ].join('\n'),
  takes: { item: needed(text('ITEM', 'as `platform filedrop quarantine list` names it')) },
  options: {
    key: needed(text('FILE', 'your personal key')),
    reason: text('TEXT', 'why you take it upon yourself; else that of the request'),
    ...passphraseOption,
    ...serviceOptions,
  },
  example:
    'platform filedrop quarantine approve bravo/00000001-0000000000000007-1a2b3c4d --key /media/bob/personal-Kq7….json',
  async run(given, terminal) {
    const { api, subject } = await serviceAs(given, terminal)
    const item = await itemToSign(api, given.item, terminal)
    // What was signed, not what is told of it.
    if (item.is_release_withheld) {
      throw new Failure(
        3,
        `the release of ${item.id} is requested under a label that you are not cleared for`,
        'somebody who is cleared for it must approve: `platform token inspect` shows what your token says',
      )
    }
    const request = item.release && releaseIn(releaseRequest, item.release.signature)
    if (!request) throw new Failure(3, `nobody has requested the release of ${item.id}`)
    terminal.note(releaseText(terminal, request))
    const { signRelease } = await offline.personalSignature()
    const said: ReleaseApproval = {
      ...request,
      ...{ step: 'approval', site: item.site, item: item.id, digests: [...item.digests] },
      ...{ reason: given.reason ?? request.reason, subject, created: new Date().toISOString() },
      request: sha384(releasePayload(request)),
    }
    const signature = await signRelease(given.key, said, await passphraseOfKey(terminal, given, given.key))
    const released = await api.call('site.quarantine.approve', { peer: item.peer, id: item.name, signature })
    show(terminal, given.json, released, () => `released ${item.id}: it is taken in once more`)
    if (!given.json) terminal.note('what fails another check is back in `platform filedrop quarantine list`')
    return 0
  },
})
