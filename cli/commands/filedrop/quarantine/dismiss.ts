// Removes a refused message from quarantine for good; where two people could release it, two sign.
import { sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import {
  type Dismissal,
  type DismissalRequest,
  dismissalRequest,
  parseRelease,
  releasePayload,
} from '../../../../daemon/kernel/messaging/release.ts'
import { offline } from '../../../../daemon/offline/offline.ts'
import { requireConsent } from '../../../confirmation/require-consent.ts'
import {
  fetchQuarantineItem,
  type NamedQuarantineItem,
  requireSignableItem,
} from '../../../confirmation/signable-quarantine-item.ts'
import { formatDismissalRequest } from '../../../format/release-request.ts'
import { passphraseOption, resolveKeyFilePassphrase } from '../../../options/passphrase.ts'
import { connectServiceWithSubject, serviceOptions } from '../../../options/service-options.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { flag, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'
import type { Terminal } from '../../../terminal/terminal.ts'

export const definition = command({
  words: 'filedrop quarantine dismiss',
  summary: 'Remove a refused message from quarantine for good',
  notes: [
    'Its files are deleted; the audit log keeps their digests, the reason of the refusal, and yours. Copy the files',
    'first if they are evidence. A message that two people could release needs two people here as well: each runs',
    'this command with their own key and token, and the second removes it. The number of the message stays used.',
  ].join('\n'),
  positionals: { item: required(text('ITEM', 'Item, as listed by `platform filedrop quarantine list`')) },
  options: {
    reason: text('TEXT', 'Justification, kept in the audit chain (default: that of the request)'),
    key: text('FILE', 'Your personal key, for a message that could be released'),
    yes: flag('Skip the confirmation'),
    ...passphraseOption,
    ...serviceOptions,
  },
  example:
    'platform filedrop quarantine dismiss bravo/00000001-0000000000000007-1a2b3c4d --reason "a test of bravo" --yes',
  async run(params, terminal) {
    const { api, subject } = await connectServiceWithSubject(params, terminal)
    const item = await fetchQuarantineItem(api, params.item, terminal)
    const pending = item.is_releasable ? findPendingRequest(item, terminal) : undefined
    const reason = params.reason ?? pending?.reason
    if (reason === undefined) throw new CommandFailure(2, 'the dismissal needs a reason: add --reason TEXT')
    await requireConsent(terminal, params.yes, `Remove ${item.id} and its files for good?`)
    const signature = item.is_releasable
      ? await signDismissal({ ...params, reason, subject }, item, pending, terminal)
      : undefined
    const outcome = await api.call('site.quarantine.dismiss', { peer: item.peer, id: item.name, reason, signature })
    printResult(terminal, params.json, outcome, () =>
      outcome.state === 'dismissed'
        ? `dismissed ${item.id}`
        : `requested by ${subject}; another enrolled person must run this command, with their own token and key`,
    )
    return 0
  },
})

/** The request of another person, as it was signed, which the second person reads before signing. */
function findPendingRequest({ dismissal }: NamedQuarantineItem, terminal: Terminal) {
  const request = dismissal && parseRelease(dismissalRequest, dismissal.signature)
  if (request) terminal.note(formatDismissalRequest(terminal, request))
  return request
}

type DismissalParams = Parameters<typeof resolveKeyFilePassphrase>[1] & {
  readonly key: string | undefined
  readonly reason: string
  readonly subject: string
}

async function signDismissal(
  params: DismissalParams,
  item: NamedQuarantineItem,
  pending: ReturnType<typeof findPendingRequest>,
  terminal: Terminal,
) {
  if (params.key === undefined)
    throw new CommandFailure(
      2,
      `two people could release ${item.id}, so two must sign its dismissal`,
      'add --key FILE, with your personal key, and use your own token (PLATFORM_TOKEN)',
    )
  const { reason, subject } = params
  const { digests } = requireSignableItem(item)
  const content: Omit<DismissalRequest, 'step'> = {
    ...{ v: 1, type: 'platform.dismissal', site: item.site, item: item.id, digests: [...digests] },
    ...{ reason, subject, created: new Date().toISOString() },
  }
  const decision: Dismissal = pending
    ? { ...content, step: 'approval', request: sha384(releasePayload(pending)) }
    : { ...content, step: 'request' }
  const { signRelease } = await offline.personalSignature()
  return await signRelease(params.key, decision, await resolveKeyFilePassphrase(terminal, params, params.key))
}
