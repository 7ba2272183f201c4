// A synthetic agent with known faults succeeds more often by what was learnt from its traces, and harm is found within its budget.
import { expect, test } from 'vitest'
import { harmfulArtifact } from '../../../../../test/support/guide/harmful-artifact.ts'
import {
  type ExperimentResult,
  runExperiment,
  runWithoutLayer,
} from '../../../../../test/support/guide/learning-experiment.ts'

const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
const sizes = { training: 400, traces: 300 }
const rate = (successes: readonly boolean[]) => successes.filter(Boolean).length / successes.length

/** Type and subject of each that says how tools are used. */
function listFindings({ artifacts }: ExperimentResult) {
  return artifacts.flatMap(({ type, content, status }) => {
    if (type === 'FailurePattern') return [`${status} ${content.tool} ${content.argument}=${content.value}`]
    return type === 'ToolPairingHint' ? [`${status} ${content.tool} before ${content.next_tool}`] : []
  })
}

test('its success rate rises by at least .25 with each of 10 seeds, and nothing that helps is demoted', async () => {
  for (const seed of seeds) {
    const on = await runExperiment({ seed, ...sizes, isAttachEnabled: true })
    const off = runWithoutLayer({ seed, ...sizes, isAttachEnabled: false })
    expect(rate(on.successes) - rate(off)).toBeGreaterThanOrEqual(0.25)
    expect(listFindings(on).sort()).toEqual([
      'active ledger/begin before ledger/commit',
      'active models/validate before models/publish',
      'active records/export format="xml"',
    ])
  }
})

test('a planted artifact that harms is demoted within 16 traces that it is eligible for', async () => {
  for (const seed of seeds) {
    const terms = { seed, training: 100, traces: 200, isAttachEnabled: true, planted: harmfulArtifact }
    const { planted_traces } = await runExperiment({ ...terms, tracesPerRun: 1 })
    expect(planted_traces).toBeLessThanOrEqual(16)
  }
})

test('with attaching off, nothing changes: not by what was learnt, and not by what was planted', async () => {
  const terms = { seed: 1, ...sizes, isAttachEnabled: false, planted: harmfulArtifact }
  const planted = await runExperiment(terms)
  expect(planted.successes).toEqual(runWithoutLayer(terms))
  expect(planted.artifacts.filter(({ status }) => status === 'demoted')).toEqual([])
})

test('from an agent whose failures have no cause, nothing is learnt', async () => {
  for (const seed of seeds.slice(0, 5)) {
    const result = await runExperiment({ seed, training: 400, traces: 0, isAttachEnabled: false, isFaultless: true })
    expect(listFindings(result)).toEqual([])
  }
})
