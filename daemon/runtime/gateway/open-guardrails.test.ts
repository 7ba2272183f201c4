// Guardrails that a site must not start with.
import { expect, test } from 'vitest'
import { resolveProfileSettings } from '../../boot/profile.ts'
import { roles } from '../../roles.ts'
import { findGuardrailProblems } from './open-guardrails.ts'

function problemsOf(...rules: readonly Record<string, unknown>[]) {
  const profile = {
    platform: { name: 'alpha', tenant_id: 'tenant-a' },
    guardrails: { rules: rules.map((rule, at) => ({ name: `rule-${at}`, ...rule })) },
  }
  const resolved = resolveProfileSettings(roles, profile, {}, {}, '/', [])
  return [
    ...resolved.problems,
    ...(resolved.values.has('guardrails') ? findGuardrailProblems(resolved, ['LOW', 'HIGH']) : []),
  ]
}

test('sound ones', () =>
  expect(problemsOf({ deny_patterns: ['(?i)x'], label_ceiling: 'LOW' }, { tools: ['*'], deny: true })).toEqual([]))

test.each<[string, Record<string, unknown>, string]>([
  ['an expression that cannot be compiled', { deny_patterns: ['ok', '('] }, 'guardrails.rules.rule-0.deny_patterns'],
  ['an expression with a reference back', { deny_patterns: ['(a)\\1'] }, 'guardrails.rules.rule-0.deny_patterns'],
  ['a level that the policy does not have', { label_ceiling: 'SECRET' }, 'guardrails.rules.rule-0.label_ceiling'],
  ['a field that does not exist', { denies: true }, 'guardrails.rules'],
  ['an empty list', { tools: [] }, 'guardrails.rules'],
  ['a name of a header', { name: 'a b' }, 'guardrails.rules'],
])('%s', (_, rule, path) => {
  expect(problemsOf(rule).map((problem) => problem.path)).toEqual([expect.stringContaining(path)])
})

test('two of one name', () =>
  expect(problemsOf({ name: 'a' }, { name: 'a' }).map(({ message }) => message)).toEqual([
    'two guardrails have one name',
  ]))
