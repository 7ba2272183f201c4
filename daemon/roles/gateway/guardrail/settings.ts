// The guardrails of a site, in the order of their names in refusals.
import * as z from 'zod'
import { settingsBlock } from '../../../kernel/settings/settings.ts'
import { guardrail } from './model.ts'

/** Each is a search of the texts of a call. */
const max_searching = 8

export const guardrailSettings = settingsBlock('guardrails', {
  rules: z
    .array(guardrail)
    .max(256)
    .default([])
    .refine(
      (rules) => rules.filter(({ deny_patterns }) => deny_patterns).length <= max_searching,
      `at most ${max_searching} guardrails may have expressions`,
    )
    .refine((rules) => new Set(rules.map(({ name }) => name)).size === rules.length, 'two guardrails have one name')
    .meta({
      doc: 'Restrictions on calls through the gateway, beyond permissions: who, which tools and paths, sizes, rates, expressions and the highest level of data.',
    }),
})
