// Approves the release that another person has requested; the second signature imports the message once more.

import { sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import {
  parseRelease,
  type ReleaseApproval,
  releasePayload,
  releaseRequest,
} from '../../../../daemon/kernel/messaging/release.ts'
import { offline } from '../../../../daemon/offline/offline.ts'
import { fetchItemToSign } from '../../../confirmation/signable-quarantine-item.ts'
import { formatReleaseRequest } from '../../../format/release-request.ts'
import { passphraseOption, resolveKeyFilePassphrase } from '../../../options/passphrase.ts'
import { connectServiceWithSubject, serviceOptions } from '../../../options/service-options.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'filedrop quarantine approve',
  summary: 'Approve the release that another person requested',
  notes: [
    'Look at the message first: `platform filedrop quarantine show ITEM`. Your signature covers the files that',
    'are there now, and the request as it was signed. The key and the token must be yours, and must differ from',
    'those of the requester.',
  ].join('\n'),
  positionals: { item: required(text('ITEM', 'Item, as listed by `platform filedrop quarantine list`')) },
  options: {
    key: required(text('FILE', 'Your personal key')),
    reason: text('TEXT', 'Justification (default: that of the request)'),
    ...passphraseOption,
    ...serviceOptions,
  },
  example:
    'platform filedrop quarantine approve bravo/00000001-0000000000000007-1a2b3c4d --key /media/bob/personal-Kq7….json',
  async run(params, terminal) {
    const { api, subject } = await connectServiceWithSubject(params, terminal)
    const item = await fetchItemToSign(api, params.item, terminal)
    // The label withholds the request; the next lines use the signed request, not the service's summary of it.
    if (item.is_release_withheld) {
      throw new CommandFailure(
        3,
        `the release of ${item.id} is requested under a label that you are not cleared for`,
        'a person with that clearance must approve; `platform token inspect` shows yours',
      )
    }
    const request = item.release && parseRelease(releaseRequest, item.release.signature)
    if (!request) throw new CommandFailure(3, `nobody has requested the release of ${item.id}`)
    terminal.note(formatReleaseRequest(terminal, request))
    const { signRelease } = await offline.personalSignature()
    const approval: ReleaseApproval = {
      ...request,
      ...{ step: 'approval', site: item.site, item: item.id, digests: [...item.digests] },
      ...{ reason: params.reason ?? request.reason, subject, created: new Date().toISOString() },
      request: sha384(releasePayload(request)),
    }
    const signature = await signRelease(
      params.key,
      approval,
      await resolveKeyFilePassphrase(terminal, params, params.key),
    )
    const released = await api.call('site.quarantine.approve', { peer: item.peer, id: item.name, signature })
    printResult(terminal, params.json, released, () => `released ${item.id}: it is imported once more`)
    if (!params.json)
      terminal.note('if it fails another check, it is listed again by `platform filedrop quarantine list`')
    return 0
  },
})
