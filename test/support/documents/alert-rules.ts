// The alerts that the documentation ships, and the commands in their texts.
import { parse } from 'yaml'
import * as z from 'zod'
import { readDocument } from './read-document.ts'

export const alertRulesDocument = 'docs/prometheus-alerts.yaml'

const rule = z.strictObject({
  alert: z.string().regex(/^[A-Z][A-Za-z]+$/),
  expr: z.string(),
  for: z
    .string()
    .regex(/^\d+[mhd]$/)
    .optional(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string().min(10), description: z.string().min(10) }),
})
export type AlertRule = z.infer<typeof rule>

const ruleFile = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(rule).min(1) })).min(1),
})

export function readAlertRules(): AlertRule[] {
  return ruleFile.parse(parse(readDocument(alertRulesDocument))).groups.flatMap(({ rules }) => rules)
}

/** The commands in texts of alerts, without `platform`, with `bravo` for each label. */
export function listAlertCommands(): string[] {
  const texts = readAlertRules().flatMap(({ annotations: { summary, description } }) => [summary, description])
  const lines = texts.flatMap((text) => [...text.matchAll(/`platform (.+?)`/g)].map(([, line = '']) => line))
  return [...new Set(lines.map((line) => line.replaceAll(/\{\{.*?\}\}/g, 'bravo')))]
}
