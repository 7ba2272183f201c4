// Templated prose for actions that come without a rationale of their own: the record always says why.
import type { AuditTrigger, ChangeGround, ScoreDecomposition } from './entry.ts'

const triggerReasons: Readonly<Record<AuditTrigger, string>> = {
  evaluator_score_below_threshold: 'its score stayed below the threshold of the evaluator',
  l3_performance_cascade: 'the tools and services that it concerns keep failing',
  drift_event: 'the recorded behaviour has drifted',
  admin_manual: 'an administrator requested it',
  synthesis_proposal: 'a synthesis proposed it',
}

export type ActionSubject = {
  /** Past tense, such as `promoted`. */
  readonly verb: string
  readonly subject: string
  readonly effect?: string
}

export function describeAction({ verb, subject, effect }: ActionSubject, ground: ChangeGround): string {
  const { actor, trigger, evaluator_score, score_decomposition, admin_note } = ground
  const score = evaluator_score === undefined ? '' : `, with a score of ${evaluator_score}`
  const sentences = [
    `${subject} was ${verb} by ${describeActor(actor)}${effect ? `: ${effect.replace(/\.+$/, '')}` : ''}`,
    `Reason: ${triggerReasons[trigger]}${score}${describeTerms(score_decomposition)}`,
    ...(admin_note === undefined ? [] : [`Note of the administrator: ${admin_note}`]),
  ]
  return `${sentences.join('. ')}.`.slice(0, 8_192)
}

function describeActor(actor: string): string {
  if (actor === 'curator_auto') return 'the curator'
  if (actor === 'evaluator_auto') return 'the evaluator'
  return `the administrator ${actor.slice('admin:'.length)}`
}

function describeTerms(terms: ScoreDecomposition | undefined): string {
  if (!terms) return ''
  const shown = Object.entries(terms).map(([term, value]) => `${term} ${value}`)
  return ` (${shown.join(', ')})`
}
