// The guardrails of a site, in the order of their names in refusals.
import * as z from 'zod'
import { settingsBlock } from '../../../kernel/settings/settings.ts'
import { guardrail } from './model.ts'

export const guardrailSettings = settingsBlock('guardrails', {
  rules: z
    .array(guardrail)
    .max(256)
    .default([])
    .refine((rules) => new Set(rules.map(({ name }) => name)).size === rules.length, 'two guardrails have one name')
    .meta({
      doc: 'Restrictions on calls through the gateway, beyond permissions: who, which tools and paths, sizes, rates, expressions and the highest level of data.',
    }),
})
