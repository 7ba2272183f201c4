// Exports active artifacts as a set for a peer: what was learnt, signed by the site, under labels that may leave for it.
import * as z from 'zod'
import { canonicalJson, sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { joinLabels, type Label } from '../../../../kernel/label/label.ts'
import { hex96, siteName } from '../../../../kernel/messaging/statement.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { checkChannelTenant } from '../../../../shared/label-crossing/label-crossing.ts'
import { signWithSiteKey } from '../../../../shared/site-key/site-key.ts'
import { artifactId, artifactType } from '../artifact/view.ts'
import { collectSet, type LeavingArtifact } from './collect-set.ts'
import { max_set_artifacts, max_set_bytes, type SetManifest, set_document_type, writeSetFile } from './format.ts'
import { digestOf } from './read-set.ts'

const stayReasons = ['internal_type', 'personal_text', 'hidden_text', 'unreadable', 'label', 'too_many'] as const

export const exportSet = operation({
  summary:
    'Export active artifacts for a peer, signed by this site: without observations, traces, names of users and vectors',
  method: 'POST',
  path: '/api/v1/guide/sets/export',
  input: z.strictObject({
    to: siteName.meta({ description: 'The peer; the set holds what its ceiling and the labels release to it' }),
    types: z.array(artifactType).min(1).max(13).optional(),
    ids: z.array(artifactId).min(1).max(max_set_artifacts).optional(),
    label_ceiling: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .meta({ description: 'Highest level, below that of the peer (default: the ceiling of the peer alone)' }),
    release: z
      .boolean()
      .default(false)
      .meta({ description: 'True: releases artifacts of this tenant to the peer, whose labels name only this tenant' }),
  }),
  output: z
    .strictObject({
      file: z.string().meta({ description: 'The text of the file' }),
      digest: hex96.meta({ description: 'SHA-384 of the signed manifest' }),
      made_at: z.iso.datetime(),
      artifacts: z.int(),
      bytes: z.int(),
      left_out: z.array(z.strictObject({ id: z.string(), reason: z.enum(stayReasons) })),
      left_out_count: z.int().meta({ description: 'Of all of them; left_out has the first 500' }),
    })
    .meta({ id: 'ExportedGuidanceSet' }),
  errors: ['not_your_tenant', 'wrong_state', 'not_found'],
  allow: 'guide:admin',
  reads: true,

  async run(call, terms) {
    const refused = checkChannelTenant(call, call.caller.tenant_id) ?? checkCeiling(call, terms.label_ceiling)
    if (refused) return refused
    const collected = await collectSet(call, terms)
    if (isRefusal(collected)) return collected
    const { leaving, left_out, left_out_count } = collected
    const signed = await signSet(call, terms.to, leaving)
    if (isRefusal(signed)) return signed
    const { file, digest, manifest } = signed
    const detail = { digest, made_at: manifest.made_at, artifacts: leaving.length, left_out: left_out_count }
    const more = { released: leaving.filter(({ isReleased }) => isReleased).map(({ carried }) => carried.artifact_id) }
    await call.record([call.audited('gateway.guide.set.exported', terms.to, { ...detail, ...more }, manifest.label)])
    const counts = { artifacts: leaving.length, bytes: Buffer.byteLength(file), left_out_count }
    return { file, digest, made_at: manifest.made_at, ...counts, left_out: [...left_out] }
  },
})

function checkCeiling(call: Call, level: string | undefined): Refusal | undefined {
  const { levels } = call.site.labels
  if (level === undefined || levels.includes(level)) return undefined
  const message = `must be one of ${levels.join(', ')}`
  return refuse('invalid', `label_ceiling ${message}`, [{ path: 'label_ceiling', message }])
}

async function signSet(call: Call, to: string, leaving: readonly LeavingArtifact[]) {
  const label = joinAll(call, leaving)
  if (!label) return refuse('wrong_state', 'no artifact may leave for the peer')
  const { name: from, tenant_id } = call.site
  const texts = leaving.map(({ text }) => text)
  const manifest: SetManifest = {
    ...{ v: 1, type: 'platform.guidance-set', from, tenant_id, to, made_at: call.nowIso(), label },
    artifacts: texts.map(sha256),
  }
  const signed = await signWithSiteKey(call, set_document_type, Buffer.from(canonicalJson(manifest)))
  const file = writeSetFile(texts, canonicalJson(signed))
  if (Buffer.byteLength(file) > max_set_bytes)
    return refuse('wrong_state', 'the set is too large for one file: export fewer types or artifacts')
  return { file, manifest, digest: digestOf(signed) }
}

function joinAll(call: Call, leaving: readonly LeavingArtifact[]): Label | undefined {
  const [first, ...others] = leaving.map(({ carried }) => carried.label)
  return others.reduce<Label | undefined>(
    (joined, label) => joined && joinLabels(joined, label, call.site.labels),
    first,
  )
}
