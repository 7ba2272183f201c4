// A change needs the words of a person: text that a model has read cannot stand in for them.
import { expect, test } from 'vitest'
import { isRequestedChange } from './requested-change.ts'

const id = 'artifact_0123'

test.each([
  ['names both', 'Please demote artifact_0123, it misleads.', [], true],
  ['has another form of the word', 'Demoting artifact_0123 is right.', [], true],
  ['has the id in an earlier message', 'demote it', ['show me artifact_0123'], true],
  ['names another change', 'promote artifact_0123', [], false],
  ['has no change at all', 'what is artifact_0123?', [], false],
  ['has the word inside of another', 'is it undemoted? artifact_0123', [], false],
  ['has no id', 'demote the worst one', [], false],
  ['is empty', '', [], false],
  ['says not to', 'do not demote artifact_0123', [], false],
  ['has a longer id', 'demote artifact_01234', [], false],
  ['has the id at the end of another', 'demote my_artifact_0123', [], false],
])('a message that %s', (_, message, earlier, isRequested) => {
  expect(isRequestedChange('guide_demote_artifact', { id }, message, earlier)).toBe(isRequested)
})

test('every object of the input must be named, also in lists and as versions', () => {
  const input = { id, supersedes: ['artifact_9'], rationale: 'anything' }
  expect(isRequestedChange('guide_promote_artifact', input, `promote ${id}`, [])).toBe(false)
  expect(isRequestedChange('guide_promote_artifact', input, `promote ${id} over artifact_9`, [])).toBe(true)
  const rollback = { graph_id: 'outcome_graph', to_snapshot: 'snapshot_7' }
  expect(isRequestedChange('guide_rollback_graph', rollback, 'roll back outcome_graph', [])).toBe(false)
  expect(isRequestedChange('guide_rollback_graph', rollback, 'roll back outcome_graph to snapshot_7', [])).toBe(true)
})

test('a change without an object needs a word for what it changes, and a rollback its version', () => {
  expect(isRequestedChange('guide_pause_curator', {}, 'stop explaining', [])).toBe(false)
  expect(isRequestedChange('guide_pause_curator', {}, 'pause the curator', [])).toBe(true)
  expect(isRequestedChange('guide_rollback_artifact', { id, version: 2 }, `roll back ${id}`, [])).toBe(false)
  expect(isRequestedChange('guide_rollback_artifact', { id, version: 2 }, `roll back ${id} to version 2.`, [])).toBe(
    true,
  )
})

test('a change without a word for it is never requested', () => {
  expect(isRequestedChange('guide_reset_everything', {}, 'reset everything', [])).toBe(false)
  expect(isRequestedChange('guide_constructor', {}, 'constructor', [])).toBe(false)
})
