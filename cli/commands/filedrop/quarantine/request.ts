// Asks for the release of a refused message, signed by one person's own key.
import { offline } from '../../../../daemon/boot/offline.ts'
import { type Label, labelOf } from '../../../../daemon/kernel/label.ts'
import { type ReleaseRequest, type Waivable, waivable } from '../../../../daemon/kernel/release.ts'
import { classificationOf, classificationOptions } from '../../../classification.ts'
import { command, Failure } from '../../../command.ts'
import { show } from '../../../output.ts'
import { choice, needed, text } from '../../../params.ts'
import { passphraseOfKey, passphraseOption } from '../../../passphrase.ts'
import { type Item, itemToSign } from '../../../quarantine-item.ts'
import { serviceAs, serviceOptions } from '../../../service.ts'
import { requireSite } from '../../../site.ts'
import type { Terminal } from '../../../terminal.ts'

export const definition = command({
  words: 'filedrop quarantine request',
  summary: 'ask for the release of a refused message; a second person must approve',
  notes: [
    'Signs for exactly the files that lie there now, and passes over this one reason; every other check runs again.',
    'The key is your own (`platform keys generate --use personal --dir DIR`), enrolled by `platform people add`, and the',
    'token must be yours too (PLATFORM_TOKEN). For LABEL_MISSING name the label that the message is to carry.',
  ].join('\n'),
  takes: { item: needed(text('ITEM', 'as `platform filedrop quarantine list` names it')) },
  options: {
    waive: needed(choice('REASON', 'the reason to pass over', waivable.options)),
    reason: needed(text('TEXT', 'why you take it upon yourself')),
    key: needed(text('FILE', 'your personal key')),
    ...classificationOptions,
    ...passphraseOption,
    ...serviceOptions,
  },
  example:
    'platform filedrop quarantine request bravo/00000001-0000000000000007-1a2b3c4d --waive EXPIRED --reason "the courier was late" --key /media/ann/personal-Jx3….json',
  async run(given, terminal) {
    const { api, subject } = await serviceAs(given, terminal)
    const item = await itemToSign(api, given.item, terminal)
    const label = await labelFor(given, given.waive, item, terminal)
    const { signRelease } = await offline.personalSignature()
    const said: ReleaseRequest = {
      ...{ v: 1, type: 'platform.release', step: 'request', site: item.site, item: item.id },
      ...{ digests: [...item.digests], waiver: given.waive, reason: given.reason, subject },
      ...(label ? { label } : {}),
      created: new Date().toISOString(),
    }
    const signature = await signRelease(given.key, said, await passphraseOfKey(terminal, given, given.key))
    const pending = await api.call('site.quarantine.request', { peer: item.peer, id: item.name, signature })
    show(terminal, given.json, pending, () => `requested; another person approves it until ${pending.ends}`)
    return 0
  },
})

type Typed = Parameters<typeof classificationOf>[0]

/** Undefined when none was named. Throws `Failure` (2) for one that is not of the site's policy. */
async function labelFor(given: Typed, waive: Waivable, item: Item, terminal: Terminal): Promise<Label | undefined> {
  const isNamed = given.classification ?? (given.categories.length > 0 || given.releasableTo.length > 0)
  if (!isNamed && waive !== 'LABEL_MISSING') return undefined
  if (!item.sender_tenant_id)
    throw new Failure(3, `${item.peer} is not pinned any more, so its label has no originator`)
  const { siteSettings } = await offline.profile()
  const { labels } = siteSettings(requireSite(given, terminal), terminal.env)
  const label = labelOf(await classificationOf(given, terminal), labels, item.sender_tenant_id)
  if (label) return label
  throw new Failure(2, `--classification must be one of ${labels.levels.join(', ')}`)
}
