// A synthetic agent with known faults succeeds more often by what was learnt from its traces, and harm is found within its budget.
import { expect, test } from 'vitest'
import { harmfulArtifact } from '../../../../../test/support/guide/harmful-artifact.ts'
import { planted_id, runExperiment } from '../../../../../test/support/guide/learning-experiment.ts'

const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
const sizes = { training: 400, traces: 400 }
const rate = (successes: readonly boolean[]) => successes.filter(Boolean).length / successes.length

test('its success rate rises by at least .25 with each of 10 seeds, and nothing that helps is demoted', () => {
  for (const seed of seeds) {
    const off = runExperiment({ seed, ...sizes, isAttachEnabled: false })
    const on = runExperiment({ seed, ...sizes, isAttachEnabled: true })
    expect(rate(on.successes) - rate(off.successes)).toBeGreaterThanOrEqual(0.25)
    const found = on.learnt.filter(({ type }) => type !== 'IntentPattern').map(({ type, key }) => `${type} ${key}`)
    expect(found.sort()).toEqual([
      'FailurePattern ["records/export","format","\\"xml\\""]',
      'ToolPairingHint ["ledger/begin","ledger/commit"]',
      'ToolPairingHint ["models/validate","models/publish"]',
    ])
    expect(on.kept.filter((type) => type !== 'IntentPattern').length).toBe(3)
  }
})

test('a planted artifact that harms is demoted within 8 traces that it is eligible for', () => {
  for (const seed of seeds) {
    const { demoted } = runExperiment({ seed, ...sizes, isAttachEnabled: true, planted: harmfulArtifact })
    expect(demoted.find(({ id }) => id === planted_id)?.after).toBeLessThanOrEqual(8)
  }
})

test('with attaching off, nothing changes: not by what was learnt, and not by what was planted', () => {
  const plain = runExperiment({ seed: 1, ...sizes, isAttachEnabled: false })
  const planted = runExperiment({ seed: 1, ...sizes, isAttachEnabled: false, planted: harmfulArtifact })
  expect(planted.successes).toEqual(plain.successes)
  expect(planted.demoted).toEqual([])
})

test('from an agent whose failures have no cause, nothing is learnt', () => {
  for (const seed of seeds) {
    const { learnt } = runExperiment({ seed, training: 400, traces: 0, isAttachEnabled: false, isFaultless: true })
    expect(learnt.filter(({ type }) => type !== 'IntentPattern')).toEqual([])
  }
})
