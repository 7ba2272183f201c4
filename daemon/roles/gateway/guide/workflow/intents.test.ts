// Which calls and messages generate workflows, and the artifacts that belong to them.
import { expect, test } from 'vitest'
import { findGeneratingTool, isGeneratingIntent, isWorkflowGuidance } from './intents.ts'

test.each([
  [{ service: 'pipeline-service', tool: 'effect_create' }, 'effect'],
  [{ tool: 'pipeline-service__effect_update' }, 'effect'],
  [{ service: 'gateway', tool: 'pipeline-service__datapipeline_deploy' }, 'datapipeline'],
  [{ service: 'pipeline-service', tool: 'datapipeline_update' }, 'datapipeline'],
  [{ service: 'pipeline-service', tool: 'effect_run' }, undefined],
  [{ service: 'maps', tool: 'effect_create' }, undefined],
  [{ tool: 'effect_create' }, undefined],
])('%j generates %s', (name, object) => {
  expect(findGeneratingTool(name)?.kind.object).toBe(object)
})

test.each([
  ['create_effect', true],
  ['create_csv_pipelin', true],
  ['update_pipeline_orders', true],
  ['import_dag', true],
  ['find_effect', false],
  ['create_signal', false],
  ['unclassified', false],
])('the class %s generates a workflow: %s', (intent_class, expected) => {
  expect(isGeneratingIntent({ intent_class })).toBe(expected)
})

test('the choice of a tool makes an intent one, whatever its class', () => {
  const tools = [{ tool: 'intelligence-service__signal_list' }, { tool: 'pipeline-service__effect_create' }]
  expect(isGeneratingIntent({ intent_class: 'find_signal', tools })).toBe(true)
  expect(isGeneratingIntent({ tools: tools.slice(0, 1) })).toBe(false)
  expect(isGeneratingIntent({})).toBe(false)
})

test('artifacts for such intents are patterns, maps of the service, trajectories that succeeded, and what is tagged', () => {
  const isFor = (type: string, content: Record<string, unknown>, tags: string[] = []) =>
    isWorkflowGuidance({ type, content, applicability: { tags } })
  expect(isFor('IntentPattern', {})).toBe(true)
  expect(isFor('CapabilityMap', { service: 'pipeline-service' })).toBe(true)
  expect(isFor('CapabilityMap', { service: 'maps' })).toBe(false)
  expect(isFor('DecisionTrajectory', { success_rate: 0.8 })).toBe(true)
  expect(isFor('DecisionTrajectory', { success_rate: 0.4 }, ['workflow'])).toBe(false)
  expect(isFor('PromptShim', {}, ['Pipeline'])).toBe(true)
  expect(isFor('PromptShim', {})).toBe(false)
  expect(isFor('FailurePattern', {})).toBe(false)
})
