// Each status allows the actions of the table of document 002, and no other; each action makes the version that it should.
import { describe, expect, test } from 'vitest'
import { isRefusal } from '../../../../kernel/error/errors.ts'
import { type Artifact, type ArtifactStatus, artifactStatuses } from './model.ts'
import { changeArtifact, cyclesUntilForgotten, isDominatedByTools, type LifecycleChange, toHistory } from './rules.ts'

const id = 'artifact_1'
const stamp = { actor: 'admin:ada', reason: 'because', now: 9 }

function build(changes: Partial<Artifact> = {}): Artifact {
  return {
    ...{ tenant_id: 'alpha', uds: { timestamp: 1, username: 'curator_auto', visibility: 'tenant' } },
    ...{ create_ts: 1, update_ts: 1, schema_version: 1, type: 'PromptShim', content: { body: 'b' }, status: 'active' },
    ...{ version: 3, prev_version_id: `${id}.2`, change_reason: '', actor: 'curator_auto' },
    ...{ applicability: { intent_class: 'i', tags: [] }, rationale: 'r', notes: 'n', supersedes: [], trace_ids: [] },
    ...{ as_of: 1, low_scores: 2, demoted_cycles: 1, is_flagged: true },
    ...changes,
  } as Artifact
}

const earlier = build({
  version: 1,
  prev_version_id: null,
  content: { body: 'old' },
  notes: 'old',
} as Partial<Artifact>)
const changes: readonly LifecycleChange[] = [
  { action: 'promote' },
  { action: 'demote' },
  { action: 'forget' },
  { action: 'edit', edit: {} },
  { action: 'rollback', to: earlier },
  { action: 'upstream_flag' },
]
/** The status after each action; absent: it is refused. */
const table: Readonly<Record<ArtifactStatus, Partial<Record<LifecycleChange['action'], ArtifactStatus>>>> = {
  proposed: { promote: 'active', forget: 'forgotten', edit: 'proposed', rollback: 'active', upstream_flag: 'proposed' },
  active: { promote: 'active', demote: 'demoted', edit: 'active', rollback: 'active', upstream_flag: 'active' },
  demoted: { promote: 'active', forget: 'forgotten', edit: 'demoted', rollback: 'active', upstream_flag: 'demoted' },
  forgotten: { rollback: 'active' },
}

describe.each(artifactStatuses)('a %s artifact', (status) => {
  test.each(changes.map((change) => ({ change, action: change.action })))('and $action', ({ change, action }) => {
    const next = changeArtifact(id, build({ status }), change, stamp)
    const expected = table[status][action]
    if (expected === undefined) return expect(next).toMatchObject({ code: 'wrong_state' })
    expect(next).toMatchObject({ status: expected, version: 4, prev_version_id: `${id}.3`, update_ts: 9 })
    expect(next).toMatchObject({ actor: 'admin:ada', change_reason: 'because', create_ts: 1 })
  })
})

const change = (from: Partial<Artifact>, by: LifecycleChange) => {
  const next = changeArtifact(id, build(from), by, stamp)
  if (isRefusal(next)) throw next
  return next
}

test('a promotion keeps what ranks a proposal, and raises the weight of an active artifact up to a bound', () => {
  const ranked = { body: 'b', evaluator_score: 0.4, confidence: 0.3, weight: 2 }
  const proposed = { status: 'proposed', content: ranked } as Partial<Artifact>
  expect(change(proposed, { action: 'promote' }).content).toEqual(ranked)
  expect(change({ content: ranked } as Partial<Artifact>, { action: 'promote' }).content.weight).toBe(3)
  const heavy = { content: { body: 'b', weight: 1_000 } } as Partial<Artifact>
  expect(change(heavy, { action: 'promote' }).content.weight).toBe(1_000)
})

test('a promotion begins the counts again, stores its vector, and adds to the superseded ones', () => {
  const embedding = { vector: [1, 0], model: 'm' }
  const next = change(
    { supersedes: ['a'], superseded_by: 'z' },
    { action: 'promote', supersedes: ['a', 'b'], embedding },
  )
  expect(next).toMatchObject({ low_scores: 0, demoted_cycles: 0, is_flagged: false, supersedes: ['a', 'b'], as_of: 9 })
  expect(next.content).toMatchObject({ embedding_vector: [1, 0], embedding_model: 'm' })
  expect(next).not.toHaveProperty('superseded_by')
})

test('an artifact supersedes neither itself nor more than 256 others', () => {
  for (const supersedes of [[id], Array.from({ length: 257 }, (_, at) => `a${at}`)])
    expect(changeArtifact(id, build(), { action: 'promote', supersedes }, stamp)).toMatchObject({ code: 'invalid' })
})

test('an edit changes metadata alone, and null takes the intent class away', () => {
  const next = change({}, { action: 'edit', edit: { tags: ['x', 'x'], intent_class: null } })
  expect(next).toMatchObject({ applicability: { tags: ['x'] }, notes: 'n', content: { body: 'b' }, as_of: 1 })
  expect(next.applicability).not.toHaveProperty('intent_class')
  expect(change({}, { action: 'edit', edit: { notes: '' } })).toMatchObject({
    ...{ notes: '', applicability: { intent_class: 'i' } },
  })
})

test('a rollback takes the earlier content, and points at the version before itself', () => {
  const next = change({ status: 'demoted', label: { level: 'SECRET' } as never }, { action: 'rollback', to: earlier })
  expect(next).toMatchObject({ status: 'active', content: { body: 'old' }, notes: 'old', version: 4 })
  expect(next).toMatchObject({ prev_version_id: `${id}.3`, label: { level: 'SECRET' } })
  const gone = { action: 'rollback', to: build({ status: 'forgotten' }) } as const
  expect(changeArtifact(id, build(), gone, stamp)).toMatchObject({ code: 'wrong_state' })
})

test('the history has nothing that follows from a change', () => {
  const pending = build({ follow_up: true, pending_audit: {} as never })
  expect(toHistory(id, pending)).toEqual({ ...build(), artifact_id: id })
})

test('tools dominate a score where they weigh more than all else', () => {
  const weights = { l3_error: 3, schema_mismatch: 3, user_feedback: 1.5, confidence: 0.5 }
  const terms = (l3_error: number, user_feedback: number) => ({
    ...{ l3_error, l3_schema_mismatch: 0, user_feedback, evaluator_confidence: 0 },
  })
  expect(isDominatedByTools(terms(0.6, 1), weights)).toBe(true)
  expect([isDominatedByTools(terms(0.5, 1), weights), isDominatedByTools(undefined, weights)]).toEqual([false, false])
  expect([cyclesUntilForgotten(true, 2), cyclesUntilForgotten(true, 9), cyclesUntilForgotten(false, 2)]).toEqual([
    2, 5, 5,
  ])
})
