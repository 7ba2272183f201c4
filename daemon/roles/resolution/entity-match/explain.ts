// Explains the score of a match field by field: as the data of a waterfall chart, as text, or as SVG.
import * as z from 'zod'
import { refuse } from '../../../kernel/error/errors.ts'
import { label } from '../../../kernel/label/label.ts'
import { operation, RawResponse } from '../../../kernel/operation/operation.ts'
import { preferredMediaType } from '../../../kernel/operation/preferred-media-type.ts'
import { min_columns } from '../chart/text.ts'
import { buildMatchEvidence } from '../explain/evidence.ts'
import {
  bitsToProbability,
  buildWaterfall,
  renderWaterfallSvg,
  renderWaterfallText,
  type Waterfall,
} from '../explain/waterfall.ts'
import { showSteps, waterfallStep } from '../explain/waterfall-step.ts'
import { uid } from '../fields.ts'
import { lenses } from '../lens/stored-lens.ts'
import { findPresentRecord } from '../withdrawal/entity-removal.ts'
import { formatRecordName } from './format-record-name.ts'
import { entityMatches, matchView } from './model.ts'

const inBits = 'null where the score is a text similarity'

const scoreParts = {
  prior_bits: z
    .number()
    .nullable()
    .meta({ description: `Log-odds before any field; ${inBits}` }),
  bits: z
    .number()
    .nullable()
    .meta({ description: `The score as log-odds to base 2; ${inBits}` }),
  probability: z
    .number()
    .nullable()
    .meta({ description: `The score as a probability; ${inBits}` }),
  text_likeness: z.number().nullable().meta({
    description: 'Similarity of the texts before the evidence of the fields; null where the score is in bits',
  }),
  likeness: z
    .number()
    .nullable()
    .meta({ description: 'The score as a text similarity; null where the score is in bits' }),
}

const mediaTypes = ['application/json', 'text/plain', 'image/svg+xml'] as const

export const explain = operation({
  summary: 'Explain the score of a match, field by field',
  method: 'GET',
  path: '/api/v2/entity_match/{correlation_id}/explain',
  tool: 'entity_match_explain',
  input: z.strictObject({
    correlation_id: uid,
    columns: z.int().min(min_columns).max(1_000).default(100).meta({ description: 'Width of the text' }),
  }),
  output: z
    .strictObject({
      correlation_id: uid,
      classification: label,
      score: matchView.shape.score,
      state: matchView.shape.state,
      decided_by: matchView.shape.decided_by,
      ...scoreParts,
      steps: z.array(waterfallStep),
      found_by: z.array(z.string()).meta({
        description: 'Blocking rules or keys by which the pair was found; empty for a match of an earlier release',
      }),
      text: z.string(),
    })
    .meta({ id: 'MatchExplanation', description: 'The data of a waterfall chart; bits are log-odds to base 2' }),
  errors: ['not_found'],
  allow: 'resolution:read',
  produces: [...mediaTypes],

  async run(call, { correlation_id, columns }) {
    const match = await call.store(entityMatches).get(correlation_id)
    const { lens_id, left_uid, right_uid, label: classification, score, state, decided_by } = match.value
    const lens = await call.store(lenses).find(lens_id)
    if (!lens)
      return refuse(
        'not_found',
        `the lens ${lens_id} of the match does not exist at this site any longer; list the lenses`,
      )
    const [left, right] = await Promise.all([left_uid, right_uid].map((id) => findPresentRecord(call, id)))
    const evidence = buildMatchEvidence(match.value, lens.value.body, left?.value.values, right?.value.values)
    const waterfall = buildWaterfall(evidence)
    const title = `${formatRecordName(match.value.left)} and ${formatRecordName(match.value.right)}`
    const type = preferredMediaType(call.accepts, mediaTypes)
    if (type === 'image/svg+xml') return new RawResponse(type, renderWaterfallSvg(waterfall, title))
    const text = renderWaterfallText(waterfall, title, columns)
    if (type === 'text/plain') return new RawResponse('text/plain; charset=utf-8', text)
    return {
      correlation_id,
      classification,
      score,
      state,
      decided_by,
      ...showScoreParts(waterfall),
      steps: showSteps(waterfall),
      found_by: [...waterfall.found_by],
      text,
    }
  },
})

function showScoreParts({ scale, base, total }: Waterfall) {
  return scale === 'log_odds'
    ? { prior_bits: base, bits: total, probability: bitsToProbability(total), text_likeness: null, likeness: null }
    : { prior_bits: null, bits: null, probability: null, text_likeness: base, likeness: total }
}
