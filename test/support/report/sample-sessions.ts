// Reports of evidence and dissents, for looking at their pages. `name` changes every text that comes from outside.
import { type Dissent, renderDissentReport } from '../../../daemon/offline/report/dissent/dissent-page.ts'
import { renderEvidenceReport } from '../../../daemon/offline/report/evidence/evidence-page.ts'
import { combine } from '../../../daemon/roles/consensus/combine/combine.ts'
import { decide } from '../../../daemon/roles/consensus/combine/decide.ts'
import type { EvidenceBlock } from '../../../daemon/roles/consensus/evidence/model.ts'
import { createRandom } from '../../../daemon/roles/resolution/engine/random.ts'
import { buildDissent } from '../consensus/build-dissent.ts'

export type NameChange = (name: string) => string
export const keep: NameChange = (name) => name

export const report_at = '2026-05-20T09:30:00.000Z'
export const digest = (letter: string) => letter.repeat(64)
export const label = (name: NameChange) => ({
  ...{ policy: name('NATO'), level: name('SECRET'), categories: [name('ALPHA')], originator: name('acme') },
})
const analysts = [
  ['alice', 0.94, 0.95, 0.9],
  ['bob', 0.88, 0.9, 0.85],
  ['carol', 0.72, 0.8, 0.95],
  ['bravo', 0.97, 0.9, 0.9],
  ['dave', 0.35, 0.6, 0.5],
] as const

export type EvidenceSample = {
  readonly contributors?: number
  readonly method?: 'weighted_average' | 'dempster_shafer'
}

export function renderSampleEvidence(
  name = keep,
  { contributors = 5, method = 'weighted_average' }: EvidenceSample = {},
) {
  const contributions = Array.from({ length: contributors }, (_, at) => {
    const [who, pair_score, accuracy, credibility] = analysts[at % analysts.length] ?? analysts[0]
    const contributor_id = name(at < analysts.length ? who : `${who} ${at}`)
    return {
      ...{ contributor_id, pair_score, accuracy, credibility, ordinal: at + 1, digest: digest('a') },
      ...{ signer_key_id: name(`${who}-1`), classification: label(name) },
    }
  })
  const policy = {
    m: 3,
    n: Math.max(6, contributors),
    combination_method: method,
    ratify_threshold: 0.8,
    conflict_threshold: 0.5,
  }
  const block: EvidenceBlock = {
    block_id: digest('b'),
    content: {
      ...{
        v: 2,
        type: 'platform.evidence',
        algorithm: 'weighted_average/1',
        site: name('alpha'),
        tenant_id: name('acme'),
      },
      ...{ session_id: name('ses_0197'), lens_id: name('persons'), lens_version: name('1.2.0'), label: label(name) },
      subject: { kind: name('entity_match'), left: name('crm:1042'), right: name('hr:88') },
      ...{ policy, contributions, record: { contributions: contributors + 2, chain: digest('c') } },
      result: combine(method, contributions),
      decision: 'match',
      parent_block_ids: [digest('d'), digest('e')],
      decided_at: '2026-05-18T14:02:11.000Z',
      attestation: {
        ...{ id: 'att_1', by: name('eve'), decision: 'match', at: '2026-05-18T14:02:11.000Z' },
        rationale: name('Two of the three records have the same passport; dave had seen the old spelling.'),
      },
    },
    signature: { payload: '', signatures: [{ protected: '', signature: '' }] },
    keys: [],
  }
  return renderEvidenceReport({
    block,
    verdict: {
      ...{
        block_id: block.block_id,
        version: 2,
        verdict: 'valid',
        valid: true,
        faults: [],
        keys: 'pinned',
        chain: 'checked',
      },
      signed_by: [{ kid: name('alpha-m1'), fingerprint: 'q'.repeat(43) }],
      contributions: contributions.map(({ contributor_id }, at) =>
        at % 2 === 0
          ? { contributor_id, vouched_by: 'signer' as const, signer: contributor_id, keys: [] }
          : { contributor_id, vouched_by: 'origin' as const, signer: contributor_id, keys: [] },
      ),
      lineage: [{ relation: 'supersedes', block_id: digest('d') }],
      ...{ site: block.content.site, session_id: block.content.session_id, decision: 'match' },
      ...{ score: block.content.result.score, decided_at: block.content.decided_at },
    },
  })
}

export function buildSampleDissent(at: number, name = keep, size = 6): Dissent {
  const random = createRandom(at + 1)
  const policy = {
    m: 3,
    n: size + 2,
    combination_method: 'weighted_average' as const,
    ratify_threshold: 0.8,
    conflict_threshold: 0.3,
  }
  const opinions = Array.from({ length: size }, (_, number) => ({
    contributor_id: name(`${(analysts[number % analysts.length] ?? analysts[0])[0]} ${number}`),
    pair_score: number % 2 === 0 ? 0.85 + 0.15 * random() : 0.3 * random(),
    accuracy: 0.6 + 0.4 * random(),
    credibility: 0.7 + 0.3 * random(),
  }))
  const decided = decide(policy, opinions)
  if (decided.state !== 'IN_CONFLICT') throw new Error('the opinions must be in conflict')
  const isOpen = at % 3 !== 2
  const day = String(1 + (at % 19)).padStart(2, '0')
  return {
    ...{
      id: name(`dis_${at}`),
      session_id: name(`ses_${at}`),
      tenant_id: name('acme'),
      lens_id: name(['persons', 'vessels'][at % 2] ?? ''),
    },
    ...{
      classification: label(name),
      created_at: `2026-05-${day}T10:00:00.000Z`,
      status: isOpen ? 'open' : 'resolved',
    },
    ...(isOpen ? {} : { resolution: 'attested' as const, resolved_at: `2026-05-${day}T18:00:00.000Z` }),
    ...buildDissent(policy, opinions, decided),
  }
}

export function renderSampleDissents(name = keep, count = 14): string {
  const dissents = Array.from({ length: count }, (_, at) => buildSampleDissent(at, name))
  return renderDissentReport({ at: report_at, source: name('alpha'), dissents, total: count + 200 })
}

export function renderSampleDissent(name = keep, size = 6): string {
  const dissent = buildSampleDissent(1, name, size)
  const steps = [0.9, 0.62, 0.58, 0.51].map((score, at) => ({
    ...{
      seq: at + 1,
      at: `2026-05-02T1${at}:00:00.000Z`,
      from: 'PENDING_QUORUM' as const,
      to: 'PENDING_QUORUM' as const,
    },
    ...{ trigger: 'contribution' as const, by: name('alice') },
    result: { method: 'weighted_average' as const, score, conflict: 0.15 * at, total_weight: at },
  }))
  return renderDissentReport({
    ...{ at: report_at, source: name('alpha'), dissents: [dissent], total: 1 },
    session: { state: 'IN_CONFLICT', history: steps },
  })
}
