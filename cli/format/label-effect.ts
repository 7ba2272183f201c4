// Formats what labels did to the weights of a lens.
import { formatFields, keepLayout, paragraph_break } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { formatLabelCount } from './label-count.ts'

/** The effect of labels, as `lens train` reports it. */
export type LabelEffectReport = {
  readonly matches: number
  readonly non_matches: number
  readonly decisive: number
  readonly moved: boolean
  readonly lacking?: 'matches' | 'non_matches'
  readonly without: Readonly<Record<'precision' | 'recall' | 'f1', number>>
  readonly with: Readonly<Record<'precision' | 'recall' | 'f1', number>>
  readonly f1_error: number
  readonly changed: number
  readonly contradiction?: { readonly id_l: string; readonly id_r: string; readonly count: number }
}

export function formatLabelEffect(terminal: Terminal, effect: LabelEffectReport): string {
  const { matches, non_matches, decisive, moved, changed, contradiction } = effect
  const fields = formatFields(terminal, {
    labels: `${formatLabelCount(matches, non_matches)}; ${decisive} of pairs that decide the result`,
    weights_and_cut: moved ? 'follow the labels' : `as learnt without labels: ${explainUnmoved(effect)}`,
    ...(decisive < min_labels || effect.lacking ? {} : describeEstimates(effect)),
    changed_answers: changed > 0 ? `${changed}; the last one counts` : undefined,
    contradictions: contradiction && describeContradiction(contradiction),
  })
  return [fields, ...(decisive < few_labels ? [keepLayout(few_labels_remedy)] : [])].join(paragraph_break)
}

/** With fewer labels, the estimates are not printed. */
const min_labels = 10
/** Below it, the error of the estimates is larger than most gains. */
const few_labels = 25
const few_labels_remedy = 'Few of these labels decide the result: label more pairs with scores near the cut.'

function explainUnmoved({ matches, non_matches, lacking }: LabelEffectReport): string {
  if (!lacking) return 'labels that were set aside prefer no other'
  const [count, wanted, other] =
    lacking === 'matches' ? [matches, 'matches', 'non-matches'] : [non_matches, 'non-matches', 'matches']
  if (count === 0) return `only ${other} are labelled: label ${wanted} too`
  return `too few ${wanted} decide the result: label more of them`
}

function describeContradiction({ id_l, id_r, count }: NonNullable<LabelEffectReport['contradiction']>): string {
  const names = `${JSON.stringify(id_l)} and ${JSON.stringify(id_r)}`
  return `${count}: matches join records that are labelled as none, first ${names}`
}

function describeEstimates({ moved, without, with: followed, f1_error }: LabelEffectReport) {
  const [found, other] = moved ? [followed, without] : [without, followed]
  return {
    precision: `about ${found.precision.toFixed(2)} by the labels`,
    recall: `about ${found.recall.toFixed(2)} of the matches among compared pairs`,
    f1: `about ${found.f1.toFixed(2)}; ${other.f1.toFixed(2)} if weights ${moved ? 'did not follow' : 'followed'} the labels (error of the difference: ${f1_error.toFixed(2)})`,
  }
}
