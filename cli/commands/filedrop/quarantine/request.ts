// Requests the release of a refused message, signed with one person's own key.

import { completeLabel, type Label } from '../../../../daemon/kernel/label/label.ts'
import {
  type ReleaseRequest,
  type WaivableReason,
  waivableReason,
} from '../../../../daemon/kernel/messaging/release.ts'
import { offline } from '../../../../daemon/offline/offline.ts'
import { fetchItemToSign, type SignableQuarantineItem } from '../../../confirmation/signable-quarantine-item.ts'
import { classificationOptions, resolveClassification } from '../../../options/classification.ts'
import { passphraseOption, resolveKeyFilePassphrase } from '../../../options/passphrase.ts'
import { connectServiceWithSubject, serviceOptions } from '../../../options/service-options.ts'
import { requireSite } from '../../../options/site-options.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { choice, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'
import type { Terminal } from '../../../terminal/terminal.ts'

export const definition = command({
  words: 'filedrop quarantine request',
  summary: 'Request the release of a refused message; a second person approves it',
  notes: [
    'Your signature covers exactly the files that are there now, and waives this one reason; every other check',
    'runs again. Use your own key (`platform keys generate --use personal --dir DIR`), enrolled by `platform',
    'people add`, and your own token (PLATFORM_TOKEN). For LABEL_MISSING, name the label that the message is to',
    'carry.',
  ].join('\n'),
  positionals: { item: required(text('ITEM', 'Item, as listed by `platform filedrop quarantine list`')) },
  options: {
    waive: required(choice('REASON', 'Reason for refusal to waive', waivableReason.options)),
    reason: required(text('TEXT', 'Justification, kept in the audit chain')),
    key: required(text('FILE', 'Your personal key')),
    ...classificationOptions,
    ...passphraseOption,
    ...serviceOptions,
  },
  example:
    'platform filedrop quarantine request bravo/00000001-0000000000000007-1a2b3c4d --waive EXPIRED --reason "the courier was late" --key /media/ann/personal-Jx3….json',
  async run(params, terminal) {
    const { api, subject } = await connectServiceWithSubject(params, terminal)
    const item = await fetchItemToSign(api, params.item, terminal)
    const label = await resolveReleaseLabel(params, params.waive, item, terminal)
    const { signRelease } = await offline.personalSignature()
    const request: ReleaseRequest = {
      ...{ v: 1, type: 'platform.release', step: 'request', site: item.site, item: item.id },
      ...{ digests: [...item.digests], waiver: params.waive, reason: params.reason, subject },
      ...(label ? { label } : {}),
      created: new Date().toISOString(),
    }
    const signature = await signRelease(
      params.key,
      request,
      await resolveKeyFilePassphrase(terminal, params, params.key),
    )
    const pending = await api.call('site.quarantine.request', { peer: item.peer, id: item.name, signature })
    printResult(
      terminal,
      params.json,
      pending,
      () => `requested; another person must approve it before ${pending.ends}`,
    )
    return 0
  },
})

type ReleaseLabelInput = Parameters<typeof resolveClassification>[0]

/** The label to release under; undefined if none was passed. Throws `CommandFailure` (2) for one outside the site's policy. */
async function resolveReleaseLabel(
  params: ReleaseLabelInput,
  waive: WaivableReason,
  item: SignableQuarantineItem,
  terminal: Terminal,
): Promise<Label | undefined> {
  const isNamed = params.classification ?? (params.categories.length > 0 || params.releasableTo.length > 0)
  if (!isNamed && waive !== 'LABEL_MISSING') return undefined
  if (!item.sender_tenant_id)
    throw new CommandFailure(3, `${item.peer} is no longer pinned, so the label has no originator`)
  const { readSiteSettings } = await offline.profile()
  const { labels } = readSiteSettings(requireSite(params, terminal), terminal.env)
  const label = completeLabel(await resolveClassification(params, terminal), labels, item.sender_tenant_id)
  if (label) return label
  throw new CommandFailure(2, `--classification must be one of ${labels.levels.join(', ')}`)
}
