// Opens the guardrails of the profile: their expressions, and the counters that the processes of the gateway share.
import { compileSearch } from '../../../adapters/pattern/re2/text-search.ts'
import type { SiteResources } from '../../boot/site-resources.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { Guardrails } from '../../roles/gateway/guardrail/guard-call.ts'
import { guardrailSettings } from '../../roles/gateway/guardrail/settings.ts'
import { CallMeter } from '../../roles/gateway/quota/call-meter.ts'

/** Expressions that RE2 cannot compile, and levels that the labelling policy does not have. */
export function findGuardrailProblems(resolved: ResolvedSettings, levels: readonly string[]): ProfileProblem[] {
  return getSettings(resolved, guardrailSettings).rules.flatMap(({ name, deny_patterns = [], label_ceiling }) => {
    const path = `guardrails.rules.${name}`
    const faults = deny_patterns.flatMap((expression) => {
      const compiled = compileSearch(expression)
      return 'fault' in compiled ? [{ path: `${path}.deny_patterns`, message: compiled.fault }] : []
    })
    if (label_ceiling === undefined || levels.includes(label_ceiling)) return faults
    const message = `must be a level of the labelling policy: ${levels.join(', ')}`
    return [...faults, { path: `${path}.label_ceiling`, message }]
  })
}

export function openGuardrails({ resolved, site, keyValue }: SiteResources): Guardrails {
  const guardrails = getSettings(resolved, guardrailSettings).rules.map((rule) => ({
    ...rule,
    searches: rule.deny_patterns ? [requireSearch(joinExpressions(rule.deny_patterns))] : [],
  }))
  const increment: Guardrails['increment'] = (key, by, life_ms) => keyValue.increment(key, by, life_ms)
  return { guardrails, levels: site.labels.levels, increment, meter: new CallMeter(increment) }
}

/** One search finds any of them: its time is that of one. */
function joinExpressions(expressions: readonly string[]): string {
  return expressions.map((expression) => `(?:${expression})`).join('|')
}

/** The start checks have refused a profile with another. */
function requireSearch(expression: string) {
  const compiled = compileSearch(expression)
  if ('fault' in compiled) throw new TypeError(`${expression} cannot be compiled: ${compiled.fault}`)
  return compiled
}
