// Explains a dissent to a duty officer: the question, the answers, the cause, the decisive contributors, the next steps.
import { formatCount } from '../../../kernel/text/format-count.ts'
import type { DissentBody } from './dissent.ts'
import { formatList, formatNumber, listedMax } from './wording.ts'

export type NarrativeSection = {
  readonly title: string
  readonly prose: readonly string[]
  readonly points: readonly string[]
}

/** Formats a contributor's name, plain or with markup. */
export type NameFormatter = (contributor_id: string) => string

/** All sections in order; equal bodies give equal text. */
export function narrateDissent(body: DissentBody, name: NameFormatter): readonly NarrativeSection[] {
  return [
    describeQuestion(body),
    describePositions(body, name),
    describeCause(body),
    describeSupport(body, name),
    describeInfluence(body, name),
    suggestNextSteps(body),
  ]
}

function describeQuestion({ quorum, thresholds, method }: DissentBody): NarrativeSection {
  const { ratify_threshold, conflict_threshold } = thresholds
  const combinationRule =
    method === 'weighted_average'
      ? 'The combined score is the average of the scores, each counted by its weight (accuracy times credibility).'
      : 'The combined score follows from Dempster’s rule of evidence, each score discounted by its weight (accuracy times credibility).'
  return {
    title: 'Question and thresholds',
    prose: [
      `Whether the two sides of this session are the same: 1 says match, 0 says no match. At least ${quorum.m} of ${quorum.n} contributors had to answer.`,
      `${combinationRule} A match needs a score of ${formatNumber(ratify_threshold)} or more, a non-match ${formatNumber(1 - ratify_threshold)} or less, and the conflict must stay below ${formatNumber(conflict_threshold)}.`,
    ],
    points: [],
  }
}

function describePositions({ positions }: DissentBody, name: NameFormatter): NarrativeSection {
  const sides = { match: 'says match', non_match: 'says no match', neutral: 'takes no side' }
  const points = positions.slice(0, listedMax).map((position) => {
    const apart = position.deviation === null ? '' : `, ${formatNumber(position.deviation)} from the combined score`
    return `${name(position.contributor_id)} ${sides[position.leaning]}: score ${formatNumber(position.pair_score)}, weight ${formatNumber(position.weight)}${apart}`
  })
  const omitted = positions.length - listedMax
  if (omitted > 0) points.push(`and ${omitted} more, none with a lower score`)
  const intro = `${formatCount(positions.length, 'contributor', 'contributors')} answered, lowest score first:`
  return { title: 'What was answered', prose: [positions.length === 0 ? 'Nobody answered.' : intro], points }
}

function describeCause(body: DissentBody): NarrativeSection {
  return { title: 'Why it was not ratified', prose: [explainReason(body), ...describeEvidence(body)], points: [] }
}

function explainReason({ reason, score, conflict, thresholds, quorum }: DissentBody): string {
  const { ratify_threshold, conflict_threshold } = thresholds
  if (reason === 'total_conflict') {
    return 'The answers contradict each other completely: some rule out a match with certainty, others rule out a non-match. No score can be given.'
  }
  if (reason === 'conflict') {
    return `The contributors disagree too much: the conflict is ${formatNumber(conflict)}, and ${formatNumber(conflict_threshold)} or more stops a session whatever its score.`
  }
  if (quorum.contributors < quorum.m) {
    return `Too few answered in time: ${quorum.contributors} of the ${quorum.m} needed.`
  }
  if (score === null) return 'No answer carries any weight, so there is no combined score.'
  return `The answers point nowhere clearly: the combined score ${formatNumber(score)} lies between ${formatNumber(1 - ratify_threshold)} and ${formatNumber(ratify_threshold)}. The conflict is ${formatNumber(conflict)}.`
}

function describeEvidence({ belief, plausibility, K }: DissentBody): string[] {
  if (K === undefined || belief === null || plausibility === null) return []
  if (belief === undefined || plausibility === undefined) return []
  return [
    `By the evidence a match is at least ${formatNumber(belief)} and at most ${formatNumber(plausibility)} probable. ${formatNumber(K)} of the joint evidence cancelled out (K), which also happens among sources that agree.`,
  ]
}

function describeSupport({ camps, most_divergent_pair: pair }: DissentBody, name: NameFormatter): NarrativeSection {
  const points = (['match', 'non_match'] as const).map((side) => {
    const { contributor_ids, total_weight, mean_score } = camps[side]
    const mean = mean_score === null ? '' : `, mean score ${formatNumber(mean_score)}`
    const weight = contributor_ids.length === 0 ? '' : ` (total weight ${formatNumber(total_weight)}${mean})`
    return `${side === 'match' ? 'For a match' : 'Against a match'}: ${formatList(contributor_ids.map(name))}${weight}`
  })
  const furthest =
    pair === null
      ? 'No two contributors with any weight differ in their score.'
      : `Furthest apart are ${name(pair.low.contributor_id)} (${formatNumber(pair.low.pair_score)}) and ${name(pair.high.contributor_id)} (${formatNumber(pair.high.pair_score)}).`
  return { title: 'Disagreement', prose: [furthest], points }
}

function describeInfluence({ smallest_set, influence, quorum }: DissentBody, name: NameFormatter): NarrativeSection {
  const { contributor_ids, decision, exact } = smallest_set
  const ratified = decision === 'match' ? 'a match' : 'a non-match'
  const search = exact
    ? 'No smaller group would do.'
    : 'With this many contributors the search is not exhaustive: a smaller group may exist.'
  const prose =
    contributor_ids === null
      ? `${exact ? 'No group' : 'No group was found that'} can be left out so that the others, at least ${quorum.m} of them, would ratify.`
      : `Without ${formatList(contributor_ids.map(name))} the others would ratify ${ratified}. ${search}`
  const strongest = influence
    .filter((influence) => influence.score_change !== null && influence.score_change !== 0)
    .toSorted((a, b) => Math.abs(b.score_change ?? 0) - Math.abs(a.score_change ?? 0))
    .slice(0, 3)
  const points = strongest.map(
    (influence) =>
      `Without ${name(influence.contributor_id)} the score would be ${formatNumber(influence.score_without ?? 0)} and the conflict ${formatNumber(influence.conflict_without)}`,
  )
  return { title: 'Who would need to change', prose: [prose], points }
}

function suggestNextSteps({ smallest_set, quorum, reason }: DissentBody): NarrativeSection {
  const points: string[] = []
  if (smallest_set.contributor_ids !== null) {
    points.push(
      'Ask those named above to check what they relied on. A new contribution replaces the earlier one of the same contributor.',
    )
  } else if (reason !== 'inconclusive') {
    points.push(
      'Ask both sides to check what they relied on. A new contribution replaces the earlier one of the same contributor.',
    )
  }
  const open = quorum.n - quorum.contributors
  if (open > 0)
    points.push(`Ask for more answers: ${formatCount(open, 'contributor', 'contributors')} may still be heard.`)
  points.push('Or settle it as a person: attest a decision with its rationale, which becomes part of the evidence.')
  points.push('Or cancel the session, if the question no longer stands.')
  return { title: 'What to do next', prose: [], points }
}
