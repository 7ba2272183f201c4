// Settings of the budget of tokens of attached guidance.
import * as z from 'zod'

const tokens = (layer: string, of: string) =>
  z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .meta({
      env: `GUIDE_ATTACH_MAX_TOKENS_${layer}`,
      doc: `Maximum size of the artifacts that are attached for ${of} at once, in tokens (estimated as a quarter of the bytes); the others are held back as by a cap. Absent: no bound.`,
    })

export const tokenFields = {
  attach_max_tokens_l1: tokens('L1', 'the front end'),
  attach_max_tokens_l2: tokens('L2', 'the chat model of the gateway'),
  attach_max_tokens_l3: tokens('L3', 'an agent'),
}
