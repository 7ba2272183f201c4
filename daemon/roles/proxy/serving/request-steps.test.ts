// The list of steps matches its documentation, and the reasons that the head alone can give.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { headSteps, readSteps, servingSteps, writeSteps } from './request-steps.ts'

const namesOf = (steps: readonly { readonly name: string }[]) => steps.map(({ name }) => name)

test('docs/proxy.md names the thirteen steps in their order', () => {
  const document = readFileSync(new URL('../../../../docs/proxy.md', import.meta.url), 'utf8')
  const section = document.split('## The steps of a request')[1]?.split('\n## ')[0] ?? ''
  const documented = [...section.matchAll(/\(`([a-z_]+)`\)/g)].map(([, name]) => name)
  expect(documented).toEqual(namesOf([...headSteps, ...servingSteps]))
  expect(documented).toHaveLength(13)
})

test('a read uses the cache and no body; a write uses a body and no cache', () => {
  expect(namesOf(readSteps)).toEqual(['rate', 'cache', 'token', 'forward'])
  expect(namesOf(writeSteps)).toEqual(['rate', 'body', 'write_rate', 'token', 'forward'])
})

test('each action that counts has counters', () => {
  for (const { action, counters } of servingSteps) expect(counters !== undefined).toBe(action.startsWith('count'))
})
