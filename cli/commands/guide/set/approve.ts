// Approves what another administrator has requested: the second signature makes the artifacts active.
import * as z from 'zod'
import { jws } from '../../../../daemon/kernel/cryptography/signatures.ts'
import { offline } from '../../../../daemon/offline/offline.ts'
import { fetchAllItems } from '../../../client/fetch-items.ts'
import { formatGuidanceSet, formatSetArtifacts } from '../../../format/guidance-set.ts'
import { passphraseOption, resolveKeyFilePassphrase } from '../../../options/passphrase.ts'
import { connectServiceWithSubject, serviceOptions } from '../../../options/service-options.ts'
import { setPositional } from '../../../options/set-id.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

const requestedSet = z.object({
  digest: z.string(),
  request: z.object({ artifacts: z.array(z.int()), signature: jws }).optional(),
})

export const definition = command({
  words: 'guide set approve',
  summary: 'Approve the artifacts of a set that another administrator requested',
  notes: [
    'Look at the set first: `platform guide set show ID`. Your signature covers its manifest, the same artifacts and the',
    'request as it was signed. The key and the token must be yours, and must differ from those of the requester.',
  ].join('\n'),
  positionals: setPositional,
  options: {
    key: required(text('FILE', 'Your personal key')),
    reason: text('TEXT', 'Justification (default: that of the request)'),
    ...passphraseOption,
    ...serviceOptions,
  },
  example: 'platform guide set approve set_5d0e2c9a4b7f41d88a3c6e19f2b07d54 --key /media/bob/personal-Kq7….json',
  async run(params, terminal) {
    const { api, subject } = await connectServiceWithSubject(params, terminal)
    const set = await api.call('gateway.guide.set.get', { id: params.id })
    const { digest, request } = requestedSet.parse(set)
    if (!request) throw new CommandFailure(3, `nobody has requested the acceptance of ${params.id}`)
    const items = await fetchAllItems(api, 'gateway.guide.set.artifacts', { id: params.id })
    const { artifacts, signature: requested } = request
    terminal.note(formatGuidanceSet(terminal, set))
    terminal.note(
      formatSetArtifacts(
        terminal,
        items.filter(({ number }) => artifacts.includes(Number(number))),
      ),
    )
    const { signAcceptanceApproval } = await offline.personalSignature()
    const signature = await signAcceptanceApproval(
      params.key,
      { set: params.id, digest, artifacts, signature: requested },
      { subject, created: new Date().toISOString(), reason: params.reason },
      await resolveKeyFilePassphrase(terminal, params, params.key),
    )
    const approved = await api.call('gateway.guide.set.approve', { id: params.id, signature })
    printResult(terminal, params.json, approved, () => formatGuidanceSet(terminal, approved))
    if (!params.json)
      terminal.note('the artifacts become active one after the other; `platform guide set show ID` shows each')
    return 0
  },
})
