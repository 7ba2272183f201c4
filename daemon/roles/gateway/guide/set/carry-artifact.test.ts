// Nothing of callers, traces, actors and secrets leaves with an artifact; what was learnt does.
import { expect, test } from 'vitest'
import { buildArtifact } from '../../../../../test/support/guide/artifacts.ts'
import type { Artifact } from '../artifact/model.ts'
import { carryArtifact, cleanText, collectNames } from './carry-artifact.ts'

const label = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'alpha', releasable_to: ['bravo'] }
const id = `artifact_${'0'.repeat(32)}`
const trace = '0af7651916cd43dd8448eb211c80319c'
const names = collectNames(['Ada.Lovelace', 'ann', 'curator_auto', 'al'])

function carry(changes: object = {}) {
  const value = { ...buildArtifact('ToolPairingHint'), ...changes } as Artifact
  return carryArtifact({ id, version: 1, value }, label, names)
}

test.each([
  ['promoted for ann.', 'promoted for [removed]'],
  ['Ada.Lovelace saw it', '[removed] saw it'],
  [`as in trace ${trace}`, 'as in trace [removed]'],
  [`after artifact_${'a'.repeat(32)}.2`, 'after [removed]'],
  ['mail pat@example.org now', 'mail [removed] now'],
  ['id 123e4567-e89b-12d3-a456-426614174000', 'id [removed]'],
  ['password=hunter2 helps', 'password=[redacted] helps'],
  ['annual plans of al', 'annual plans of al'],
])('a rationale loses names, identifiers and secrets: %s', (text, cleaned) => {
  expect(cleanText(text, names)).toBe(cleaned)
})

test('the fields of the layer stay: actor, notes, traces, scores, vectors, audit', () => {
  const carried = carry({
    ...{ notes: 'ann wrote this', trace_ids: [trace], actor: 'admin:ann', change_reason: 'promoted by ann' },
    rationale: `seen by ann in ${trace}`,
  })
  const text = JSON.stringify(carried)
  for (const part of ['ann', trace, 'admin:', 'evaluator_score', 'embedding_vector', 'weight', 'uds', 'tenant_id'])
    expect(text).not.toContain(part)
  expect(carried).toMatchObject({ artifact_id: id, rationale: 'seen by [removed] in [removed]' })
})

test.each([
  ['the name of a user', 'ask ann first', 'personal_text'],
  ['a trace', `as in ${trace}`, 'personal_text'],
  ['a secret', 'send token=abcdefgh', 'personal_text'],
  ['a hidden character', 'call \u202e it', 'hidden_text'],
])('an artifact with %s in its content stays as a whole', (_, body, reason) => {
  expect(carry({ type: 'PromptShim', content: { body } })).toBe(reason)
})

test('records of the layer itself stay', () => {
  const content = { rule: 'unknown_intent', review: 'held' }
  expect(carry({ type: 'DriftEvent', content })).toBe('internal_type')
})
