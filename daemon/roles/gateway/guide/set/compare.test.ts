// How an artifact of another site stands to what is active here, and with how much confidence it begins.
import { expect, test } from 'vitest'
import { startingConfidence } from './accept-artifact.ts'
import { compareArtifact, indexKnown, type KnownArtifact } from './compare.ts'
import type { CarriedArtifact } from './format.ts'

const label = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'tenant-a' }
const origin = {
  ...{ site: 'alpha', tenant_id: 'tenant-a', artifact_id: 'artifact_1', version: 3, set_id: 'set_1' },
  ...{ made_at: '2026-03-01T00:00:00Z', digest: 'a', accepted_by: ['ann', 'bob'], accepted_version: 2 },
}
const content = { spec_id: 'units', body: 'in metres' }
const carried = (changes: object = {}): CarriedArtifact => ({
  ...{ artifact_id: 'artifact_1', type: 'SpecFragment', version: 4, as_of: '2026-03-01T00:00:00Z', label },
  ...{ applicability: { tags: [] }, rationale: 'seen', content: { ...content, confidence: 0.9 } },
  ...changes,
})
const known = (changes: object = {}): KnownArtifact => ({
  ...{ id: 'here', type: 'SpecFragment', service_name: undefined, tool_name: undefined },
  ...{ applicability: { tags: ['other'] }, content: { ...content, confidence: 0.2, weight: 4 } },
  ...changes,
})
const compare = (here: readonly KnownArtifact[], status?: Parameters<typeof compareArtifact>[3], what = carried()) => {
  const { state, with: others } = compareArtifact(what, 'alpha', indexKnown(here), status)
  return [state, ...others]
}
const other = { content: { ...content, body: 'in feet' } }

test('without anything about it, it is new; the very same artifact that is active is the same', () => {
  expect(compare([])).toEqual(['new'])
  expect(compare([known({ type: 'PromptShim' }), known({ applicability: { tags: [], intent_class: 'a' } })])).toEqual([
    'new',
  ])
  expect(compare([known({ origin })], 'active')).toEqual(['same', 'here'])
})

test('one of this site that says the same is the same, whatever ranks it; another text about the same thing is a conflict', () => {
  expect(compare([known()])).toEqual(['same', 'here'])
  expect(compare([known(other)])).toEqual(['conflict', 'here'])
})

test('an earlier version from the same origin is changed; of another origin it is a conflict', () => {
  expect(compare([known({ ...other, origin })])).toEqual(['changed', 'here'])
  expect(compare([known({ ...other, origin: { ...origin, site: 'charlie' } })])).toEqual(['conflict', 'here'])
  expect(compare([known({ ...other, origin }), known({ ...other, id: 'own' })])).toEqual(['conflict', 'here', 'own'])
})

test.each(['demoted', 'forgotten'] as const)('what this site has %s is a conflict', (status) => {
  expect(compare([], status)).toEqual(['conflict'])
})

test('texts for prompts stand beside one another: only an equal one is about the same thing', () => {
  const shim = (body: string) => carried({ type: 'PromptShim', content: { body } })
  const here = [known({ type: 'PromptShim', content: { body: 'one' } })]
  expect([compare(here, undefined, shim('one')), compare(here, undefined, shim('two'))]).toEqual([
    ['same', 'here'],
    ['new'],
  ])
})

test.each([
  [undefined, 0.25],
  [1, 0.25],
  [0.5, 0.25],
  [0.2, 0.1],
  [0, 0],
])('a stated confidence of %s begins with %s: below every local artifact that states as much', (stated, begins) => {
  expect(startingConfidence(stated)).toBe(begins)
})
