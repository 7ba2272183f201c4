// The report of an evidence block: whether it holds, what was decided, by whom, and how the result follows.
import { influenceOf } from '../../../roles/consensus/combine/influence.ts'
import { sortCanonically, weight } from '../../../roles/consensus/combine/opinion.ts'
import type { EvidenceBlock, EvidenceContent } from '../../../roles/consensus/evidence/model.ts'
import { formatFraction, formatTime, formatWhole } from '../../../shared/report/format-figures.ts'
import { html, type Markup } from '../../../shared/report/markup.ts'
import { renderReportPage } from '../../../shared/report/page.ts'
import {
  type ReportTone,
  renderCallout,
  renderFacts,
  renderFigures,
  renderState,
  renderTable,
} from '../../../shared/report/parts.ts'
import type { EvidenceVerdict } from '../../evidence/evidence-file.ts'
import { formatMarking } from '../format-marking.ts'
import { renderConflict, renderScores, renderTrust, type SessionFigures } from '../session/session-charts.ts'

export type EvidenceReport = { readonly block: EvidenceBlock; readonly verdict: EvidenceVerdict }

const verdictTexts: Readonly<Record<EvidenceVerdict['verdict'], readonly [ReportTone, string, string]>> = {
  valid: ['good', 'Valid', 'The signature, the result and the decision hold, by keys that are trusted here.'],
  integrity_only: [
    'fair',
    'Integrity only',
    'Without a fault, and signed by a key that nobody has confirmed: anybody can make such a block.',
  ],
  invalid: ['poor', 'Invalid', ''],
}

/** The cost grows with the square: more are not compared. */
const max_compared = 300
const max_contributions = 500
const max_faults = 20

/** Renders the page; the same block and keys give the same bytes. */
export function renderEvidenceReport({ block, verdict }: EvidenceReport): string {
  const { content } = block
  const subject = content.subject && `${content.subject.kind}: ${content.subject.left} and ${content.subject.right}`
  return renderReportPage({
    kind: 'Evidence',
    title: `${content.decision === 'match' ? 'Match' : 'Non-match'} in session ${content.session_id}`,
    lead: html`Decided by ${content.site} on ${formatTime(content.decided_at)} UTC, with lens ${content.lens_id} ${content.lens_version}${subject === undefined ? undefined : html`, about ${subject}`}.`,
    marking: formatMarking(content.label),
    overview: { heading: 'Verdict', content: renderOverview({ block, verdict }) },
    sections: [
      { id: 'score', heading: 'Score and thresholds', content: renderScores(readFigures(content)) },
      { id: 'trust', heading: 'Trust', content: renderTrust(readFigures(content).opinions) },
      { id: 'conflict', heading: 'Conflict', content: renderDisagreement(content) },
      { id: 'contributions', heading: 'Contributions', content: renderContributions(content, verdict) },
      { id: 'lineage', heading: 'Lineage', content: renderLineage(content, verdict) },
      { id: 'proof', heading: 'Proof', content: renderProof({ block, verdict }) },
    ],
    origin: html`<p>Drawn from the evidence block ${block.block_id} alone. The page proves nothing by itself: <code>${'platform evidence verify FILE'}</code> checks the block.</p>`,
  })
}

function readFigures({ contributions, result, policy }: EvidenceContent): SessionFigures {
  const { ratify_threshold, conflict_threshold } = policy
  const opinions = contributions.map((contribution) => ({
    name: contribution.contributor_id,
    score: contribution.pair_score,
    weight: weight(contribution),
    accuracy: contribution.accuracy,
    credibility: contribution.credibility,
  }))
  return { ...result, opinions, ratify_threshold, conflict_threshold }
}

function renderOverview({ block, verdict }: EvidenceReport): Markup {
  const { policy, result, contributions, decision, attestation } = block.content
  const [tone, title, reason] = verdictTexts[verdict.verdict]
  const faults = verdict.faults.slice(0, max_faults)
  const more = verdict.faults.length - faults.length
  const reasons = faults.length > 0 ? [...faults, ...(more > 0 ? [`and ${more} more`] : [])] : [reason]
  const signed = verdict.contributions.filter(({ vouched_by }) => vouched_by === 'signer').length
  const decided = attestation ? `by ${attestation.by}, a person` : 'by the contributors'
  return html`${renderCallout(tone, title, reasons)}${renderFigures([
    { name: 'decision', value: decision === 'match' ? 'Match' : 'Non-match', note: decided },
    {
      name: 'combined score',
      value: formatFraction(result.score),
      note: `match from ${formatFraction(policy.ratify_threshold)}, non-match to ${formatFraction(1 - policy.ratify_threshold)}`,
    },
    {
      name: 'conflict',
      value: formatFraction(result.conflict),
      note: `threshold ${formatFraction(policy.conflict_threshold)}`,
      tone: result.conflict >= policy.conflict_threshold ? 'poor' : 'good',
    },
    {
      name: 'contributors',
      value: `${contributions.length} of ${policy.n}`,
      note: `${policy.m} needed`,
    },
    {
      name: 'own signatures',
      value: `${signed} of ${contributions.length}`,
      note: 'verified here; the origin vouches for the others',
    },
  ])}${
    attestation &&
    renderFacts([
      ['Attested by', attestation.by],
      ['At', `${formatTime(attestation.at)} UTC`],
      ['Rationale', attestation.rationale],
    ])
  }`
}

function renderDisagreement(content: EvidenceContent): Markup {
  const { contributions, result, policy } = content
  const figures = { conflict: result.conflict, conflict_threshold: policy.conflict_threshold }
  if (contributions.length > max_compared || contributions.length < 2) return renderConflict(figures, [])
  const sorted = sortCanonically(contributions)
  return renderConflict(
    figures,
    sorted.map((_, at) => influenceOf(result, sorted, at)),
  )
}

function renderContributions({ contributions, site }: EvidenceContent, verdict: EvidenceVerdict): Markup {
  const rows = contributions.slice(0, max_contributions).map((contribution, at) => {
    const attribution = verdict.contributions[at]
    const voucher =
      attribution?.vouched_by === 'signer'
        ? html`${renderState('good', 'signed')} ${attribution.signer}`
        : html`${renderState('fair', 'origin')} ${site} alone${attribution?.signer === undefined ? undefined : html`; the keys of ${attribution.signer} were not given`}`
    return [
      contribution.contributor_id,
      formatFraction(contribution.pair_score),
      formatFraction(contribution.accuracy),
      formatFraction(contribution.credibility),
      formatFraction(weight(contribution)),
      voucher,
      [contribution.classification.level, ...contribution.classification.categories].join(' '),
      contribution.signer_key_id,
      contribution.digest.slice(0, 12),
    ]
  })
  return renderTable({
    caption: 'Contributions that count',
    columns: [
      'contributor',
      ...['score', 'accuracy', 'credibility', 'weight'].map((heading) => ({ heading, kind: 'number' as const })),
      'vouched for by',
      'classification',
      'key',
      { heading: 'digest', kind: 'code' },
    ],
    rows,
    total: contributions.length,
    empty: 'The block has no contribution.',
  })
}

const relationTexts = { supersedes: 'supersedes', rests_on: 'rests on' } as const
const max_parents = 200

function renderLineage({ parent_block_ids }: EvidenceContent, { lineage }: EvidenceVerdict): Markup {
  const named = new Set(lineage.map(({ block_id }) => block_id))
  const others = parent_block_ids.filter((id) => !named.has(id))
  const rows = [
    ...lineage.map(({ relation, block_id }) => [relationTexts[relation], block_id]),
    ...others.map((id) => ['rests on, by its messages', id]),
  ]
  return renderTable({
    caption: 'Blocks that this one follows from',
    columns: ['relation', { heading: 'block', kind: 'code' }],
    rows: rows.slice(0, max_parents),
    total: rows.length,
    empty: 'The block rests on no other block.',
  })
}

function renderProof({ block, verdict }: EvidenceReport): Markup {
  const { content } = block
  const keys = renderTable({
    caption: 'Keys with a valid signature',
    columns: ['key', { heading: 'fingerprint: compare it by another way', kind: 'code' }],
    rows: verdict.signed_by.map(({ kid, fingerprint }) => [kid, fingerprint]),
    empty: 'No signature is valid.',
  })
  const sources = {
    given: 'given to the command',
    pinned: 'pinned or enrolled at this site',
    own: 'in the block itself: they prove its integrity alone',
  }
  return html`${renderFacts([
    ['Block', html`<code>${block.block_id}</code>`],
    ['Version', `${content.v}`],
    ['Method', content.result.method],
    ['Keys', sources[verdict.keys]],
    [
      'Record',
      `${formatWhole(content.record.contributions)} contributions, superseded ones included; ${verdict.chain === 'checked' ? 'its chain is checked' : 'its chain is not checked, since the block does not list them all'}`,
    ],
    ['Quorum', `${content.policy.m} of ${content.policy.n}`],
    ['Deadline', content.policy.deadline === undefined ? undefined : `${formatTime(content.policy.deadline)} UTC`],
    ['Tenant', content.tenant_id],
  ])}${keys}`
}
