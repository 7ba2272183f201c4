// Requests the acceptance of artifacts of a set, signed with an administrator's own key.

import { offline } from '../../../../daemon/offline/offline.ts'
import type { ApiObject } from '../../../client/client.ts'
import { fetchAllItems } from '../../../client/fetch-items.ts'
import { formatGuidanceSet, formatSetArtifacts } from '../../../format/guidance-set.ts'
import { passphraseOption, resolveKeyFilePassphrase } from '../../../options/passphrase.ts'
import { connectServiceWithSubject, serviceOptions } from '../../../options/service-options.ts'
import { setPositional } from '../../../options/set-id.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { nameList, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'guide set request',
  summary: 'Request the acceptance of artifacts of a set; a second administrator approves it',
  notes: [
    'Your signature covers the manifest of the set, with the digest of each artifact, and the artifacts that you choose.',
    'Without --artifacts: those that are new or changed and have no marks. Use your own key (`platform keys generate',
    '--use personal --dir DIR`), enrolled by `platform people add`, and your own token (PLATFORM_TOKEN).',
  ].join('\n'),
  positionals: setPositional,
  options: {
    reason: required(text('TEXT', 'Justification, kept in the audit chain')),
    key: required(text('FILE', 'Your personal key')),
    artifacts: nameList(
      'NUMBER,...',
      'Artifacts by their numbers in the set (default: all without conflicts and marks)',
    ),
    ...passphraseOption,
    ...serviceOptions,
  },
  example:
    'platform guide set request set_5d0e2c9a4b7f41d88a3c6e19f2b07d54 --reason "proven at alpha" --key /media/ann/personal-Jx3….json',
  async run(params, terminal) {
    const { api, subject } = await connectServiceWithSubject(params, terminal)
    const set = await api.call('gateway.guide.set.get', { id: params.id })
    const items = await fetchAllItems(api, 'gateway.guide.set.artifacts', { id: params.id })
    const artifacts = chooseArtifacts(items, params.artifacts)
    const chosen = items.filter(({ number }) => artifacts.includes(Number(number)))
    terminal.note(formatSetArtifacts(terminal, chosen))
    const { signAcceptanceRequest } = await offline.personalSignature()
    const decision = {
      ...{ site: String(set.site), tenant_id: String(set.tenant_id), set: params.id, digest: String(set.digest) },
      ...{ artifacts, reason: params.reason, subject, created: new Date().toISOString() },
    }
    const passphrase = await resolveKeyFilePassphrase(terminal, params, params.key)
    const signature = await signAcceptanceRequest(params.key, decision, passphrase)
    const requested = await api.call('gateway.guide.set.request', { id: params.id, signature })
    printResult(terminal, params.json, requested, () => formatGuidanceSet(terminal, requested))
    if (!params.json) terminal.note(`another administrator must approve it before ${requested.ends}`)
    return 0
  },
})

/** In ascending order, as both sign them. Throws `CommandFailure` for a number that the set does not have, and for nothing to accept. */
function chooseArtifacts(items: readonly ApiObject[], named: readonly string[]): number[] {
  const open = items.filter(
    ({ state, findings }) => (state === 'new' || state === 'changed') && (findings as unknown[]).length === 0,
  )
  const numbers = named.length > 0 ? named.map(Number) : open.map(({ number }) => Number(number))
  const missing = named.find((name) => !items.some(({ number }) => Number(number) === Number(name)))
  if (missing !== undefined) throw new CommandFailure(2, `the set has no artifact ${missing}`)
  if (numbers.length > 0) return [...new Set(numbers)].sort((first, second) => first - second)
  throw new CommandFailure(
    3,
    'no artifact of the set is new or changed and without marks',
    'look at them with `platform guide set show ID`, and name some in --artifacts',
  )
}
